"""Pages of the documentation that are made, not written, each time the site is built.

A page a method from its plugin, the references it reached and its scores on the embedded data; a
gallery of all reports; the Python reference; contributing and changelog as the repository has
them. Scores and pictures come from a run of the default study, `hashbench run`, which has to be
there before: what the site shows is then of this commit.
"""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

import hashbench
from hashbench.plugins.registry import Plugin, discover

ROOT = Path(__file__).parents[1]

#: The study that scores and pictures are taken from.
STUDY = Path(os.environ.get("HASHBENCH_DOCS_STUDY", ROOT / "hashbench-results" / "quick"))


def markdown_table(table: pd.DataFrame) -> str:
    """Return a table in Markdown."""
    rows = [list(table.columns), ["---"] * len(table.columns), *table.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def method_page(plugin: Plugin, scores: pd.DataFrame, references: pd.DataFrame) -> str:
    """Return the page of a method."""
    method = plugin.cls
    parts = [f"# {plugin.title}", _paragraphs(inspect.getdoc(method) or "")]
    kind = [word for word in ("discrete", "kernel", "scalable") if getattr(method, word, False)]
    facts = {
        "name": f"`{plugin.name}`",
        "kind": ", ".join(["supervised" if method.supervised else "unsupervised", *kind]),
        "paper": str(method.paper) if method.paper else "none",
        "fidelity": f"{method.fidelity} {getattr(method, 'fidelity_note', '') or ''}".strip(),
    }
    parts.append("\n".join(f"- **{key}**: {value}" for key, value in facts.items()))
    module = inspect.getdoc(sys.modules[method.__module__]) or ""
    if plugin.path.stem == plugin.name.replace("-", "_"):
        parts.append(f"## Idea and objective\n\n{prose(module)}")
    space = getattr(method, "space", {}) or {}
    defaults = {k: v for k, v in method.defaults().items() if k not in ("n_bits", "random_state")}
    if defaults:
        rows = pd.DataFrame(
            [[f"`{k}`", f"`{v}`", str(space.get(k, "not tuned"))] for k, v in defaults.items()],
            columns=["parameter", "default", "range in a search"],
        )
        parts.append("## Parameters\n\n" + markdown_table(rows))
    own = scores[scores["method"] == plugin.name]
    if len(own):
        wide = own.pivot_table(index="database", columns="task", values="value").reset_index()
        shown = wide.map(lambda value: f"{value:.4f}" if isinstance(value, float) else value)
        parts.append(
            "## On the embedded data\n\nAP on `emoji` at 16 bits, as `hashbench run` gives it.\n\n"
            + markdown_table(shown.rename(columns={"database": "database codes"}))
        )
    compared = references[references["method"].str.partition("[")[0] == plugin.name]
    if len(compared):
        held = f"{int(compared['within'].sum())} of {len(compared)}"
        parts.append(
            f"## Against other code\n\n{held} comparisons lie within their tolerance; the largest "
            f"difference is {compared['difference'].abs().max():.3f}. "
            "[Fidelity](../../fidelity.md) has them one by one."
        )
    return "\n\n".join(parts) + "\n"


def prose(docstring: str) -> str:
    """Return a docstring in Markdown: what is indented is mathematics, underlined is a heading."""
    parts = []
    for paragraph in docstring.replace("``", "`").split("\n\n"):
        lines = paragraph.splitlines()
        if all(line.startswith("    ") for line in lines):
            parts.append("```text\n" + "\n".join(line[4:] for line in lines) + "\n```")
        elif len(lines) > 1 and set(lines[1]) == {"-"}:
            parts.append("\n".join([f"### {lines[0]}", "", *lines[2:]]))
        else:
            parts.append(paragraph)
    return "\n\n".join(parts)


def _paragraphs(docstring: str) -> str:
    """Return a docstring up to its first section of parameters."""
    return docstring.partition("\nParameters\n")[0].strip()


def gallery(folder: Path) -> Iterator[str]:
    """Yield the parts of the gallery."""
    yield "# Gallery\n"
    yield (
        "Every report of the default study, made by `hashbench run` and `hashbench report` when "
        "this site was built.\n"
    )
    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for picture in sorted(folder.glob("*.svg")):
            text = text.replace(f"({picture.name})", f"(gallery/{picture.name})")
        yield f"## {page.stem}\n\n{text}\n"


def api() -> str:
    """Return the reference of the public names, by the modules that define them."""
    parts = ["# Python reference\n"]
    for name, module in sorted(hashbench._EXPORTS.items()):
        directive = "autoclass" if inspect.isclass(getattr(hashbench, name)) else "autofunction"
        options = ":members:\n" if directive == "autoclass" else ""
        where = "hashbench.measures.evaluation" if name == "evaluate" else module
        parts.append(f"## {name}\n\n```{{eval-rst}}\n.. {directive}:: {where}.{name}")
        parts.append(f"   {options}```\n" if options else "```\n")
    return "\n".join(parts)


def write_all(docs: Path) -> None:
    """Write every page into the folder `made`."""
    results = STUDY / "results.csv"
    if not results.is_file():
        sys.exit(f"{results} is missing; run `hashbench run` first")
    made = docs / "made"
    shutil.rmtree(made, ignore_errors=True)
    (made / "methods").mkdir(parents=True)
    scores = pd.read_csv(results, keep_default_na=False)
    scores["value"] = scores["value"].astype(float)
    scores = scores[(scores["measure"] == "AP") & (scores["params"] == "")]
    references = pd.read_csv(docs / "fidelity.csv")
    listed = ["# Methods\n"]
    methods = discover().methods
    for name, plugin in methods.items():
        page = method_page(plugin, scores, references)
        (made / "methods" / f"{name}.md").write_text(page, encoding="utf-8")
        summary = (inspect.getdoc(plugin.cls) or "").partition("\n")[0]
        listed.append(f"- [{plugin.title}](methods/{name}.md): {summary}")
    names = "\n".join(f"methods/{name}" for name in methods)
    listed.append(f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n")
    (made / "methods.md").write_text("\n".join(listed), encoding="utf-8")
    folder = made / "gallery"
    command = [sys.executable, "-m", "hashbench", "report", str(STUDY), "--format", "svg,md"]
    subprocess.run([*command, "-o", str(folder)], check=True, capture_output=True)
    (made / "gallery.md").write_text("\n".join(gallery(folder)), encoding="utf-8")
    for page in folder.glob("*.md"):
        page.unlink()  # its text is in the gallery
    (made / "api.md").write_text(api(), encoding="utf-8")
    for name in ("contributing", "changelog"):
        text = (ROOT / f"{name.upper()}.md").read_text(encoding="utf-8")
        (made / f"{name}.md").write_text(text.replace("(docs/", "(../"), encoding="utf-8")
