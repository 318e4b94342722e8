"""The notes of all tables and figures, written once: data, protocols, and what daggers mean."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hashbench.core.io import atomic_write
from hashbench.render.style import Style
from hashbench.render.tables import latex_prose, markdown_prose

NAME = "notes"


def write_notes(style: Style, folder: Path, formats: Collection[str]) -> list[Path]:
    """Write the notes as Markdown and LaTeX, if these are among the formats; return the files."""
    lines = [*style.facts(style.datasets), *(f"{note}." for note in style.notes(style.methods))]
    if not lines:
        return []
    items = "\n".join(rf"\item {latex_prose(line)}" for line in lines)
    texts = {
        "md": "\n".join(f"- {markdown_prose(line)}" for line in lines) + "\n",
        "tex": f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}\n",
    }
    files = [folder / f"{NAME}.{ending}" for ending in texts if ending in formats]
    for path in files:
        with atomic_write(path) as stream:
            stream.write(texts[path.suffix[1:]])
    return files
