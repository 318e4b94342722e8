"""The generated gallery: every report, of two small studies of this commit."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from method_pages import prose

from hashbench.plugins.registry import discover

#: The studies, and the reports of the second one.
STUDIES = {"gallery": (), "gallery-tuned": ("tuning",)}


def gallery(docs: Path, results: Path) -> str:
    """Run the gallery's studies, write all reports into `made/gallery`, return the page.

    The page begins with a small picture of each report, which leads to its section.
    """
    folder = docs / "made" / "gallery"
    lines: dict[str, str] = {}
    studies = []
    for name, reports in STUDIES.items():
        study, out = docs / f"{name}.toml", results / name
        run_hashbench("run", str(study), "-o", str(out), "--no-report", "--quiet")
        said = run_hashbench("report", str(out), *reports, "--format", "svg,md", "-o", str(folder))
        lines |= dict(line.split(": ", 1) for line in said.splitlines() if ": " in line)
        studies.append(f"```toml\n{study.read_text(encoding='utf-8')}```")
    cards, sections = [], []
    for name, plugin in discover().reports.items():
        summary = prose((inspect.getdoc(plugin.cls) or "").partition("\n\n")[0])
        shown = [*_exhibits(lines.get(name, ""), folder)]
        sections += [f"({name})=\n## {name}", summary, *shown]
        if picture := re.search(r"\]\((gallery/[^)]+)\)", "\n".join(shown)):
            cards.append(_card(name, picture[1]))
    return (
        "\n\n".join(
            [
                "# Gallery",
                "Every report, made by `hashbench report` when this site was built.",
                "::::{grid} 1 2 3 3\n:gutter: 2\n\n" + "\n".join(cards) + "\n::::",
                *sections,
                "## The studies",
                "All reports but `tuning` are of the first study, which is small so that it runs "
                "while the site is built; take its numbers for an example.",
                *studies,
            ]
        )
        + "\n"
    )


def _card(name: str, picture: str) -> str:
    """Return a small picture that leads to the section of a report."""
    return (
        f":::{{grid-item-card}} {name}\n:link: {name}\n:link-type: ref\n:class-card: thumbnail\n\n"
        f"![{name}]({picture})\n:::"
    )


def _exhibits(written: str, folder: Path) -> Iterator[str]:
    """Yield the first table and the first figure of those that a report has written."""
    files = [folder / f"{name}.md" for name in written.split(", ")]
    if not files[0].is_file():
        yield f"{written.capitalize()}." if written else "Nothing to show here."
        return
    texts = [file.read_text(encoding="utf-8") for file in files]
    drawn = [text for text in texts if "![" in text]
    tables = [text for text in texts if "![" not in text]
    shown = [*drawn[:1], *tables[:1]]
    for text in shown:
        yield re.sub(r"\((\S+\.svg)\)", r"(gallery/\1)", text)
    if len(texts) > len(shown):
        yield f"And {len(texts) - len(shown)} more of its kind."


def run_hashbench(*arguments: str) -> str:
    """Run a command; return what it prints."""
    command = [sys.executable, "-m", "hashbench", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"hashbench {' '.join(arguments)}: {done.stderr}")
    return done.stdout
