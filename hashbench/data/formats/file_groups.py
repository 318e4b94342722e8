"""Which files belong together: one, one a matrix, one a part of the split, or one a role.

A selection may say it (``image:feats.npy,text:tags.csv,labels:y.npy``); otherwise the names of
the files do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from hashbench.core.errors import HashbenchError
from hashbench.data.formats.variables import SUFFIXES, File

#: Files of one matrix each: what comes before is the dataset's name, what follows a variant.
SINGLE_MATRIX = re.compile(r"(?P<prefix>.*?)-?(?:iall|xall|yall|lall)(?:-(?P<variant>.*))?", re.I)
CLIP_FILES = ("index", "caption", "label")

#: Files of one part each, and files of one part each behind the dataset's name.
PARTS = ("train", "query", "test", "retrieval", "database")
PART_BEHIND = re.compile(rf"(?P<prefix>.+)_(?:{'|'.join(PARTS)})", re.I)

#: A role, a file, perhaps a variable in it.
ROLE = re.compile(r"(?P<role>\w{2,}):(?P<path>[^:]+)(?::(?P<variable>[^:]+))?")


def roles_of(text: str) -> dict[str, File]:
    """Return role -> file of a text such as ``image:a.npy,text:b.mat:tags,labels:y.csv``.

    Nothing if the text is no list of roles.
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
        if not path.is_file():
            raise HashbenchError(f"{role}: no file {match['path']!r}")
        found[role] = File(path.resolve(), role, match["variable"] or "")
    if "labels" not in found or len(found) < 3:
        raise HashbenchError(
            f"{text}: found {', '.join(found)}; allowed: two or more views, labels"
        )
    return found


def files_of(text: str | Path) -> list[File]:
    """Return the files that belong together."""
    roles = roles_of(str(text))
    if roles:
        return list(roles.values())
    path = Path(text)
    if path.is_dir():
        return _files_in(path)
    if path.is_file():
        if path.stem.lower() in PARTS:
            parts = _parts(_beside(path))
            return parts if len(parts) > 1 else [File(path)]
        behind = PART_BEHIND.fullmatch(path.stem)
        if behind:
            return [File(file) for file in _behind(_beside(path))[behind["prefix"]]]
        group = _group(path)
        if group is not None:
            return _features_first(file for file in _beside(path) if _group(file) == group)
    return [File(path)]


def _beside(path: Path) -> list[Path]:
    """Return the files of a kind in its folder; only a name that may be one of several asks."""
    return [file for file in sorted(path.parent.iterdir()) if file.suffix == path.suffix]


def _files_in(folder: Path) -> list[File]:
    files = [file for file in sorted(folder.iterdir()) if file.suffix.lower() in SUFFIXES]
    stems = {file.stem for file in files}
    if {"image", "text"} <= stems and stems & {"labels", "label"}:
        return [File(file, file.stem) for file in files]
    if len(_parts(files)) > 1:
        return _parts(files)
    arrays = [file for file in files if file.suffix == ".npy"]
    if any(file.stem.endswith("_vgg19") for file in arrays):
        return [File(file, file.stem) for file in arrays]
    groups: dict[str, list[Path]] = {}
    for file in files:
        group = _group(file)
        if group is not None:
            groups.setdefault(group, []).append(file)
    groups |= {name: found for name, found in _behind(files).items() if len(found) > 1}
    if len(groups) != 1:
        found = ", ".join(group or "index/caption/label" for group in groups) or "none"
        raise HashbenchError(
            f"folder {str(folder)!r}: found {found} of the datasets with a file a matrix; "
            "allowed: one, or name one of its files"
        )
    return _features_first(groups.popitem()[1])


def _parts(files: Iterable[Path]) -> list[File]:
    """Return the files of one part each; what is in them is named after the part."""
    found = [file for file in files if file.stem.lower() in PARTS]
    return [File(file, prefix=f"{file.stem.lower()}.") for file in found]


def _behind(files: Iterable[Path]) -> dict[str, list[Path]]:
    """Return the files of one part each by the name before the part."""
    groups: dict[str, list[Path]] = {}
    for file in files:
        match = PART_BEHIND.fullmatch(file.stem)
        if match and file.suffix == ".mat":
            groups.setdefault(match["prefix"], []).append(file)
    return groups


def _group(file: Path) -> str | None:
    """Return the name that files of one dataset share, if this may be one of several."""
    if file.suffix.lower() not in SUFFIXES:
        return None
    if file.stem in CLIP_FILES and file.suffix == ".mat":
        return ""
    match = SINGLE_MATRIX.fullmatch(file.stem)
    return match["prefix"] if match else None


def _features_first(files: Iterable[Path]) -> list[File]:
    """Put variants (``-vgg``: features of a network) before what may be pixels."""
    ordered = sorted(files, key=lambda file: ("-vgg" not in file.stem.lower(), file.name))
    return [File(file) for file in ordered]
