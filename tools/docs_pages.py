"""Pages of the documentation that are made, not written; run by MkDocs when the site is built.

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

import mkdocs_gen_files
import pandas as pd

import hashbench
from hashbench.plugins.registry import Plugin, discover

ROOT = Path(__file__).parents[1]

#: The study that scores and pictures are taken from.
STUDY = Path(os.environ.get("HASHBENCH_DOCS_STUDY", ROOT / "hashbench-results" / "quick"))


def write(name: str, text: str) -> None:
    """Write a page of the site."""
    with mkdocs_gen_files.open(name, "w") as stream:
        stream.write(text)


def markdown_table(table: pd.DataFrame) -> str:
    """Return a table in Markdown."""
    rows = [list(table.columns), ["---"] * len(table.columns), *table.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def method_page(plugin: Plugin, scores: pd.DataFrame, references: pd.DataFrame) -> str:
    """Return the page of a method."""
    method = plugin.cls
    parts = [f"# {plugin.title}", _paragraphs(inspect.getdoc(method) or "")]
    module = inspect.getdoc(sys.modules[method.__module__]) or ""
    if plugin.path.stem == plugin.name.replace("-", "_"):
        parts.append("## Idea and objective\n\n```text\n" + module + "\n```")
    kind = [word for word in ("discrete", "kernel", "scalable") if getattr(method, word, False)]
    facts = {
        "name": f"`{plugin.name}`",
        "kind": ", ".join(["supervised" if method.supervised else "unsupervised", *kind]),
        "paper": str(method.paper) if method.paper else "none",
        "fidelity": f"{method.fidelity} {getattr(method, 'fidelity_note', '') or ''}".strip(),
    }
    parts.append("\n".join(f"- **{key}**: {value}" for key, value in facts.items()))
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
            "[Fidelity](../fidelity.md) has them one by one."
        )
    return "\n\n".join(parts) + "\n"


def _paragraphs(docstring: str) -> str:
    """Return a docstring up to its first section of parameters."""
    return docstring.partition("\nParameters\n")[0].strip()


def gallery(folder: Path) -> Iterator[str]:
    """Yield the parts of the gallery, having put its pictures among the site's files."""
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
    for picture in folder.glob("*.svg"):
        with mkdocs_gen_files.open(f"gallery/{picture.name}", "wb") as stream:
            stream.write(picture.read_bytes())


def api() -> str:
    """Return the reference of the public names, by the modules that define them."""
    parts = ["# Python reference\n", f"Version {hashbench.__version__}.\n"]
    parts += [f"::: {module}.{name}\n" for name, module in sorted(hashbench._EXPORTS.items())]
    return "\n".join(parts)


def main() -> None:
    """Write every page."""
    results = STUDY / "results.csv"
    if not results.is_file():
        sys.exit(f"{results} is missing; run `hashbench run` first")
    scores = pd.read_csv(results, keep_default_na=False)
    scores["value"] = scores["value"].astype(float)
    scores = scores[(scores["measure"] == "AP") & (scores["params"] == "")]
    references = pd.read_csv(ROOT / "docs" / "fidelity.csv")
    methods = discover().methods
    listed = ["# Methods\n"]
    for name, plugin in methods.items():
        write(f"methods/{name}.md", method_page(plugin, scores, references))
        summary = (inspect.getdoc(plugin.cls) or "").partition("\n")[0]
        listed.append(f"- [{plugin.title}]({name}.md): {summary}")
    write("methods/index.md", "\n".join(listed) + "\n")
    folder = STUDY / "report-for-docs"
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "hashbench", "report", str(STUDY), "--format", "svg,md"]
    subprocess.run([*command, "-o", str(folder)], check=True, capture_output=True)
    write("gallery.md", "\n".join(gallery(folder)))
    write("api.md", api())
    for name in ("contributing", "changelog"):
        text = (ROOT / f"{name.upper()}.md").read_text(encoding="utf-8")
        write(f"{name}.md", text.replace("(docs/", "("))


main()
