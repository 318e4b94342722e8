"""Read which pictures, texts and labels belong together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hashbench.core.errors import HashbenchError, unknown

PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
SEPARATOR = "|"  # between the names of labels


@dataclass(frozen=True)
class Pair:
    """One item: the path of its picture, its text, and the names of its labels."""

    image: Path
    text: str
    labels: tuple[str, ...]


def read_pairs(source: Path) -> list[Pair]:
    """Return the items of a CSV or parquet file, or of a folder of pictures.

    A file has the columns image (a path, relative to the file), text and, where there are labels,
    labels (names, separated by ``|``, or a list). In a folder, the text of ``cat.jpg`` is in
    ``cat.txt``, and its label is the name of its sub-folder, or the lines of ``cat.labels``.
    """
    if source.is_dir():
        pairs = list(_folder_pairs(source))
    elif source.suffix in (".csv", ".tsv", ".parquet"):
        pairs = _file_pairs(source)
    else:
        raise HashbenchError(
            f"{source}: allowed: a folder of pictures, or a .csv, .tsv or .parquet file with the "
            "columns image, text and labels"
        )
    if not pairs:
        raise HashbenchError(f"{source}: found no pictures; allowed: {', '.join(PICTURES)}")
    return pairs


def _file_pairs(path: Path) -> list[Pair]:
    import pandas as pd

    if not path.is_file():
        raise HashbenchError(f"{path}: there is no such file")
    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
    else:
        separator = "\t" if path.suffix == ".tsv" else ","
        frame = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    for column in ("image", "text"):
        if column not in frame.columns:
            raise unknown(
                f"column {column!r} of {path.name}", column, list(map(str, frame.columns))
            )
    return [
        Pair(path.parent / str(row.image), str(row.text), _names(getattr(row, "labels", "")))
        for row in frame.itertuples()
    ]


def _names(value: Any) -> tuple[str, ...]:
    """Return the names of labels, given as a text or as a list."""
    names: Iterable[Any] = value.split(SEPARATOR) if isinstance(value, str) else value
    return tuple(dict.fromkeys(name for each in names if (name := str(each).strip())))


def _folder_pairs(folder: Path) -> Iterable[Pair]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in PICTURES:
            continue
        text, labels = path.with_suffix(".txt"), path.with_suffix(".labels")
        if not text.is_file():
            raise HashbenchError(f"{path}: its text is missing; allowed: a file {text.name}")
        if labels.is_file():
            names = _names(labels.read_text(encoding="utf-8").splitlines())
        else:
            names = () if path.parent == folder else (path.parent.name,)
        yield Pair(path, text.read_text(encoding="utf-8").strip(), names)
