"""Write the generated pages of the documentation, each time the site is built.

One page per method from its plugin, its comparisons and its scores on the embedded data; a gallery
of all reports; the Python reference (`api_reference.py`); contributing and changelog as the
repository has them. Scores come from the default study, pictures from two small ones. All three are
run first, which computes what is not there yet for the methods and data of this commit, and reports
are drawn anew: what the site shows is of this commit.
"""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import api_reference
import pandas as pd

import hashbench
from hashbench.plugins.method import FIDELITIES, UP_TO_RANK, Method
from hashbench.plugins.parameter_docs import meanings
from hashbench.plugins.registry import Plugin, discover
from hashbench.plugins.space import as_range

ROOT = Path(__file__).parents[1]

#: The study that scores are taken from, where `hashbench run` leaves it.
STUDY = ROOT / "hashbench-results" / "quick"


def markdown_table(table: pd.DataFrame) -> str:
    """Return a table in Markdown."""
    rows = [list(table.columns), ["---"] * len(table.columns), *table.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


@dataclass(frozen=True)
class Figures:
    """What was measured of methods.

    Attributes
    ----------
    scores : results.csv of the study on emoji, AP without parameters set
    runs : runs.csv of the study on emoji
    references : comparisons with other code, of networks too
    printed : methods for which the EDSH paper prints numbers
    """

    scores: pd.DataFrame
    runs: pd.DataFrame
    references: pd.DataFrame
    printed: frozenset[str]

    @classmethod
    def read(cls, study: Path, docs: Path) -> Figures:
        """Read them from the folder of a study and from the documentation."""
        scores = pd.read_csv(study / "results.csv", keep_default_na=False)
        scores["value"] = scores["value"].astype(float)
        scores = scores[(scores["measure"] == "AP") & (scores["params"] == "")]
        scores = scores[scores["dataset"] == "emoji"]
        runs = pd.read_csv(study / "runs.csv", keep_default_na=False)
        runs = runs[runs["dataset"] == "emoji"]
        shallow = pd.read_csv(docs / "research" / "fidelity.csv")
        shallow = shallow[shallow["form"].eq("default") & ~shallow["beyond_rank"]]
        deep = pd.read_csv(docs / "research" / "fidelity-deep.csv").rename(
            columns={"data": "dataset"}
        )
        deep = deep.assign(measure="AP", difference=deep["ours"] - deep["theirs"])
        shipped = Path(hashbench.__file__).parent / "resources" / "published" / "edsh.csv"
        printed = frozenset(pd.read_csv(shipped)["method"])
        return cls(scores, runs, pd.concat([shallow, deep], ignore_index=True), printed)


def method_list(methods: Mapping[str, Plugin], figures: Figures) -> str:
    """Return the page that leads to the pages of all methods."""
    unseen = figures.scores[figures.scores["database"] == "unseen"]
    wide = unseen.pivot_table(index="method", columns="task", values="value")
    rows = [
        {
            "method": f"[{plugin.title}](methods/{name}.md)",
            "what it is": prose((inspect.getdoc(plugin.cls) or "").partition("\n")[0]),
            "labels": "yes" if plugin.cls.supervised else "",
            **{
                task.replace("->", "→"): f"{wide[task].get(name, float('nan')):.3f}".strip("na")
                for task in wide
            },
        }
        for name, plugin in methods.items()
    ]
    names = "\n".join(f"methods/{name}" for name in methods)
    return (
        "# Methods\n\nWith or without labels; AP on `emoji` at 16 bits on database rows that were "
        "not trained on, with default parameters, where the default study has it. It is small "
        "data: take it for an example.\n\n"
        f"{markdown_table(pd.DataFrame(rows))}\n\n"
        f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def method_page(plugin: Plugin, figures: Figures) -> str:
    """Return the page of a method."""
    method = plugin.cls
    parts = [f"# {plugin.title}", prose(_paragraphs(inspect.getdoc(method) or ""))]
    kind = [word for word in ("discrete", "kernel", "scalable") if getattr(method, word, False)]
    paper = method.paper
    limit = f", {UP_TO_RANK}" if paper.up_to_rank else ""
    facts = {
        "name": f"`{plugin.name}`",
        "kind": ", ".join(["supervised" if method.supervised else "unsupervised", *kind]),
        "paper": str(paper) if paper.title else "none",
        "fidelity": f"*{paper.fidelity}*: {FIDELITIES[paper.fidelity]}{limit}. "
        f"{paper.fidelity_note}".strip(),
    }
    if method.requires:
        facts["needs"] = ", ".join(f"`{module}`" for module in method.requires)
    parts.append("\n".join(f"- **{key}**: {value}" for key, value in facts.items()))
    module = inspect.getdoc(sys.modules[method.__module__]) or ""
    parts.append(f"## Idea, objective, cost, deviations\n\n{prose(module)}")
    parts += [*_parameters(method), *_scores(plugin.name, figures)]
    parts += _references(plugin.name, figures.references)
    if plugin.name in figures.printed:
        parts.append(
            "The scores that the EDSH paper prints: [the EDSH paper](../../guide/reproduce.md)."
        )
    return "\n\n".join(parts) + "\n"


def _parameters(method: type[Method]) -> Iterator[str]:
    """Yield the table of parameters, with what the docstring says and where a search looks."""
    said = meanings(method)
    own = {k: v for k, v in method.defaults().items() if k not in ("n_bits", "random_state")}
    rows = [
        [
            f"`{name}`",
            f"`{value}`",
            prose(said.get(name, "")).replace("|", "\\|"),
            str(as_range(method.space.get(name, "not searched"))),
        ]
        for name, value in own.items()
    ]
    if rows:
        columns = ["parameter", "default", "meaning", "range in a search"]
        yield "## Parameters\n\n" + markdown_table(pd.DataFrame(rows, columns=columns))


def _scores(name: str, figures: Figures) -> Iterator[str]:
    """Yield what the method reached on the data inside the package, and how long it took."""
    head = "## On the embedded data\n\n"
    own = figures.scores[figures.scores["method"] == name]
    if not len(own):
        yield head + "It is not in the default study: `hashbench run -m " + name + "` runs it."
        return
    index = ["database", "codes"]
    wide = own.pivot_table(index=index, columns="task", values="value").reset_index()
    shown = wide.map(lambda value: f"{value:.4f}" if isinstance(value, float) else value)
    cell = figures.runs[figures.runs["method"] == name].iloc[0]
    yield (
        f"{head}AP on `emoji` at {own['bits'].iloc[0]} bits, as `hashbench run` gives it; training "
        f"took {float(cell['fit_seconds']):.2f} s with {cell['threads']} thread where this site "
        "was built ([scaling](../../research/scaling.md) has tall data).\n\n"
        + markdown_table(shown)
    )


def _references(name: str, references: pd.DataFrame) -> Iterator[str]:
    """Yield the scores of other code on the same data, next to ours."""
    own = references[references["method"].str.partition("[")[0] == name]
    if not len(own):
        yield "## Against other code\n\nThere was none to compare with."
        return
    held = f"{int((own['difference'].abs() <= 0.01).sum())} of {len(own)}"
    largest = own["difference"].abs().max()
    shown = own[own["measure"] == "AP"]
    rows = [
        [row.dataset, "" if pd.isna(row.bits) else f"{row.bits:g}", row.task, row.database,
         f"{row.ours:.3f}", f"{row.theirs:.3f}", f"{row.difference:+.3f}"]
        for row in shown.itertuples()
    ]  # fmt: skip
    columns = ["data", "bits", "task", "database codes", "AP here", "AP there", "difference"]
    yield (
        f"## Against other code\n\nThe means of {held} comparisons are within .01; the largest "
        f"difference is {largest:.3f}. Fidelity has all of them, with intervals and reasons: "
        "[shallow methods](../../research/fidelity.md), "
        "[networks](../../research/fidelity-deep.md).\n\n"
        + markdown_table(pd.DataFrame(rows, columns=columns))
    )


def prose(docstring: str) -> str:
    """Return a docstring in Markdown: what is indented is mathematics, underlined is a heading.

    Examples
    --------
    >>> print(prose("As :mod:`hashbench.methods.edsh_dcc` and :class:`DASHi`, ``x``."))
    As [edsh-dcc](edsh-dcc.md) and `DASHi`, `x`.
    """
    text = docstring.replace("``", "`")
    text = re.sub(
        r":mod:`hashbench\.methods\.(\w+)`",
        lambda match: "[{0}]({0}.md)".format(match[1].replace("_", "-")),
        text,
    )
    text = re.sub(r":\w+:`", "`", text)
    parts = []
    for paragraph in text.split("\n\n"):
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


def gallery(docs: Path) -> str:
    """Run the gallery's studies, write all reports into `made/gallery`, return the page."""
    folder = docs / "made" / "gallery"
    parts = [
        "# Gallery",
        "Every report, made by `hashbench report` when this site was built, of the study",
    ]
    lines: dict[str, str] = {}
    for name, reports in (("gallery", ()), ("gallery-tuned", ("tuning",))):
        study, out = docs / f"{name}.toml", STUDY.parent / name
        _hashbench("run", str(study), "-o", str(out), "--no-report", "--quiet")
        said = _hashbench("report", str(out), *reports, "--format", "svg,md", "-o", str(folder))
        lines |= dict(line.split(": ", 1) for line in said.splitlines() if ": " in line)
        parts += [f"```toml\n{study.read_text(encoding='utf-8')}```"]
    parts.insert(3, "and `tuning` of the study")
    for name, plugin in discover().reports.items():
        summary = (inspect.getdoc(plugin.cls) or "").partition("\n\n")[0]
        parts += [f"## {name}", prose(summary), *_exhibits(lines.get(name, ""), folder)]
    return "\n\n".join(parts) + "\n"


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


def _hashbench(*arguments: str) -> str:
    """Run a command; return what it prints."""
    command = [sys.executable, "-m", "hashbench", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"hashbench {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def write_all(docs: Path) -> None:
    """Write every page into the folder `made`."""
    _hashbench("run", "quick", "-o", str(STUDY), "--no-report", "--quiet")
    made = docs / "made"
    shutil.rmtree(made, ignore_errors=True)
    (made / "methods").mkdir(parents=True)
    figures = Figures.read(STUDY, docs)
    methods = discover().methods
    for name, plugin in methods.items():
        page = method_page(plugin, figures)
        (made / "methods" / f"{name}.md").write_text(page, encoding="utf-8")
    (made / "methods.md").write_text(method_list(methods, figures), encoding="utf-8")
    (made / "gallery.md").write_text(gallery(docs), encoding="utf-8")
    for page in (made / "gallery").glob("*.md"):
        page.unlink()  # its text is in the gallery
    (made / "api.md").write_text(api_reference.page(), encoding="utf-8")
    for name in ("contributing", "changelog"):
        text = (ROOT / f"{name.upper()}.md").read_text(encoding="utf-8")
        (made / f"{name}.md").write_text(text.replace("(docs/", "(../"), encoding="utf-8")
