"""Which files belong to one dataset: one file, one for each matrix, part of the split, or role.

A selection can name them (``image:feats.npy,text:tags.csv,labels:y.npy``); otherwise the names
of the files decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from hashbench.core.errors import HashbenchError
from hashbench.data.formats.variables import SUFFIXES, File

#: One matrix per file: the name of the dataset, which matrix, and perhaps a variant.
SINGLE_MATRIX = re.compile(r"(?P<prefix>.*?)-?(?:iall|xall|yall|lall)(?:-(?P<variant>.*))?", re.I)
CLIP_FILES = ("index", "caption", "label")

#: One part of the split per file: the part alone, or after the name of the dataset.
PARTS = ("train", "query", "test", "retrieval", "database", "validation")
PART_LAST = re.compile(r"(?P<prefix>.+)_(?:train|query|test|retrieval|database)", re.I)

#: A table in several files, as Hugging Face names them.
SHARD = re.compile(r"(?P<name>.+)-\d{5}-of-\d{5}")

#: A role, a file, perhaps a variable in it.
ROLE = re.compile(r"(?P<role>\w{2,}):(?P<path>[^:]+)(?::(?P<variable>[^:]+))?")


def roles_of(text: str) -> dict[str, File]:
    """Return role -> file of a text such as ``image:a.npy,text:b.mat:tags,labels:y.csv``.

    The result is empty if the text is not a list of roles.
    """
    matches = [ROLE.fullmatch(item.strip()) for item in text.split(",")]
    if Path(text).exists() or not all(matches):
        return {}
    found: dict[str, File] = {}
    for match in matches:
        assert match is not None
        role = "labels" if match["role"] == "label" else match["role"]
        if role in found:
            raise HashbenchError(f"{text}: found {role} twice; allowed: once")
        path = Path(match["path"]).expanduser()
        if path.is_dir():
            raise HashbenchError(
                f"{role}: {match['path']!r} is a folder; allowed: one file of numbers with one "
                "row per item (.npy, .csv, .mat, ...); `hashbench data embed` computes features of "
                "pictures"
            )
        if not path.is_file():
            raise HashbenchError(f"{role}: no file {match['path']!r}")
        found[role] = File(path.resolve(), role, match["variable"] or "")
    if "labels" not in found or len(found) < 3:
        raise HashbenchError(
            f"{text}: found {', '.join(found)}; allowed: two or more views, labels"
        )
    return found


def files_of(text: str | Path) -> list[File]:
    """Return the files of a dataset: those of a list of roles, of a folder, or around a file."""
    roles = roles_of(str(text))
    if roles:
        return list(roles.values())
    path = Path(text)
    if path.is_dir():
        return _files_in(path)
    if not path.is_file() or not _may_have_siblings(path):
        return [File(path)]
    siblings = [file for file in sorted(path.parent.iterdir()) if file.suffix == path.suffix]
    parts = _parts(siblings)
    if _stem(path).lower() in PARTS and len(parts) > 1:
        return parts
    groups = [files for files in _groups(siblings).values() if path in files]
    return _as_files(groups[0]) if groups else [File(path)]


def _may_have_siblings(path: Path) -> bool:
    patterns = (SHARD, SINGLE_MATRIX, PART_LAST)
    return path.stem.lower() in (*PARTS, *CLIP_FILES) or any(
        pattern.fullmatch(path.stem) for pattern in patterns
    )


def _files_in(folder: Path) -> list[File]:
    files = [file for file in sorted(folder.iterdir()) if file.suffix.lower() in SUFFIXES]
    if not files and (folder / "data").is_dir():
        return _files_in(folder / "data")
    stems = {file.stem for file in files}
    if {"image", "text"} <= stems and stems & {"labels", "label"}:
        return [File(file, file.stem) for file in files]
    parts = _parts(files)
    if len(parts) > 1:
        return parts
    arrays = [file for file in files if file.suffix == ".npy"]
    if any(file.stem.endswith("_vgg19") for file in arrays):
        return [File(file, file.stem) for file in arrays]
    groups = _groups(files)
    if len(groups) == 1:
        return _as_files(groups.popitem()[1])
    if len(files) == 1:
        return [File(files[0])]
    if groups:
        names = ", ".join(name or "index/caption/label" for name in groups)
        raise HashbenchError(
            f"folder {str(folder)!r}: found several datasets, {names}; allowed: one; give the path "
            "of one of its files"
        )
    names = ", ".join(file.name for file in files[:5]) + (", ..." if len(files) > 5 else "")
    raise HashbenchError(
        f"folder {str(folder)!r}: found {names or 'no data files'}; allowed: files called image, "
        f"text and labels ({', '.join(SUFFIXES)}), or -d "
        '"NAME=image:FILE,text:FILE,labels:FILE"'
    )


def _stem(file: Path) -> str:
    """Return the name of a file without suffix and without the number of a shard."""
    shard = SHARD.fullmatch(file.stem) if file.suffix == ".parquet" else None
    return shard["name"] if shard else file.stem


def _parts(files: Iterable[Path]) -> list[File]:
    """Return the files of one part each; their variables get the part as prefix."""
    found: dict[str, list[Path]] = {}
    for file in files:
        if _stem(file).lower() in PARTS:
            found.setdefault(_stem(file).lower(), []).append(file)
    return [
        File(paths[0], prefix=f"{part}.", shards=tuple(paths) if len(paths) > 1 else ())
        for part, paths in found.items()
    ]


def _groups(files: Iterable[Path]) -> dict[str, list[Path]]:
    """Return the sets of files that are one dataset each, by its name."""
    groups: dict[str, list[Path]] = {}
    for file in files:
        part = PART_LAST.fullmatch(file.stem) if file.suffix == ".mat" else None
        matrix = SINGLE_MATRIX.fullmatch(file.stem)
        if file.suffix == ".mat" and file.stem in CLIP_FILES:
            groups.setdefault("", []).append(file)
        elif matrix and file.suffix.lower() in SUFFIXES:
            groups.setdefault(matrix["prefix"], []).append(file)
        elif part:
            groups.setdefault(part["prefix"], []).append(file)
        elif _stem(file) != file.stem:
            groups.setdefault(_stem(file), []).append(file)
    return groups


def _as_files(paths: list[Path]) -> list[File]:
    """Return one file for shards, otherwise all, features (``-vgg``) before possible pixels."""
    if _stem(paths[0]) != paths[0].stem:
        return [File(paths[0], shards=tuple(paths))]
    return [File(path) for path in sorted(paths, key=lambda file: "-vgg" not in file.stem.lower())]
