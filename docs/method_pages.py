"""The generated pages of methods: what a plugin says of itself, and what was measured of it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote_plus

import formulas
import pandas as pd

import hashbench
from hashbench.cli.show import MEASURED_ON
from hashbench.plugins.allowed import allowed_values, in_words
from hashbench.plugins.method import FIDELITIES, UP_TO_RANK, Citation, Method
from hashbench.plugins.parameter_docs import effects, meanings
from hashbench.plugins.registry import Plugin
from hashbench.plugins.selection import format_value
from hashbench.plugins.space import as_range
from hashbench.site.bibtex import bibtex

#: A symbol in prose: letters with an index or a transpose, as X_m'V and lambda_m.
SYMBOL = re.compile(
    r"(?<![\w'])(?=\w*[_'])(?:(?:alpha|beta|gamma|eta|lambda|mu|[a-z])_\w'?|[A-Z](?:_\w)?'?)+(?![\w'])"
)


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

    def place(self, name: str) -> str:
        """Return the rank of a method on unseen rows of emoji, in words; empty if it has none."""
        means = self.unseen.mean(axis=1).sort_values(ascending=False)
        if name not in means:
            return ""
        rank = 1 + int((means > means[name]).sum())
        bits = self.scores["bits"].iloc[0]
        return (
            f"AP {means[name]:.3f}, rank {rank} of {len(means)} on unseen rows of "
            f"[`emoji`](../../guide/datasets.md) at {bits} bits (mean of both directions)"
        )

    @property
    def unseen(self) -> pd.DataFrame:
        """AP on rows that were not trained on: one row per method, one column per task."""
        part = self.scores[self.scores["database"] == "unseen"]
        return part.pivot_table(index="method", columns="task", values="value")


def method_list(methods: Mapping[str, Plugin], figures: Figures) -> str:
    """Return the page that leads to the pages of all methods."""
    wide = figures.unseen
    best_first = wide.mean(axis=1).sort_values(ascending=False, kind="stable").index
    order = [*best_first, *(name for name in methods if name not in wide.index)]
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
        for name, plugin in ((name, methods[name]) for name in order if name in methods)
    ]
    names = "\n".join(f"methods/{name}" for name in methods)
    return (
        "# Methods\n\nWith or without labels; AP on `emoji` at 16 bits on database rows that were "
        "not trained on, with default parameters, best first, where the default study has it. "
        "It is small data: take it for an example.\n\n"
        f"{markdown_table(pd.DataFrame(rows))}\n\n"
        f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def method_page(plugin: Plugin, figures: Figures) -> str:
    """Return the page of a method."""
    method = plugin.cls
    paper = method.paper
    kind = [word for word in ("discrete", "kernel", "scalable") if getattr(method, word, False)]
    limit = f", {UP_TO_RANK}" if paper.up_to_rank else ""
    facts = {
        "name": f"`{plugin.name}`",
        "kind": ", ".join(["supervised" if method.supervised else "unsupervised", *kind]),
        "paper": _linked(paper) if paper.title else "none",
        "fidelity": f"*{paper.fidelity}*: {FIDELITIES[paper.fidelity]}{limit}. "
        f"{paper.fidelity_note}".strip(),
        "score": figures.place(plugin.name),
    }
    if method.requires:
        facts["needs"] = ", ".join(f"`{module}`" for module in method.requires)
    parts = [f"# {plugin.title}", prose(_paragraphs(inspect.getdoc(method) or ""))]
    parts.append("\n".join(f"- **{key}**: {value}" for key, value in facts.items() if value))
    if paper.title:
        parts.append(f":::{{dropdown}} BibTeX\n\n```bibtex\n{bibtex(paper)}\n```\n:::")
    module = inspect.getdoc(sys.modules[method.__module__]) or ""
    parts.append(f"## Idea, objective, cost, deviations\n\n{prose(module)}")
    parts += [*_parameters(plugin.name, method), *_scores(plugin.name, figures)]
    parts += _references(plugin.name, figures.references)
    if plugin.name in figures.printed:
        parts.append(
            "The scores that the EDSH paper prints: [the EDSH paper](../../guide/reproduce.md)."
        )
    return "\n\n".join(parts) + "\n"


def _linked(paper: Citation) -> str:
    """Return a citation whose title leads to the paper on arXiv, or to a search for the title."""
    arxiv = re.fullmatch(r"arXiv:(\S+)", paper.venue)
    if arxiv:
        link = f"https://arxiv.org/abs/{arxiv[1]}"
    else:
        link = f"https://dblp.org/search?q={quote_plus(paper.title)}"
    return str(paper).replace(paper.title, f"[{paper.title}]({link})", 1)


def _parameters(name: str, method: type[Method]) -> Iterator[str]:
    """Yield the table of parameters: what they mean, their values, and what these do to AP."""
    said, allowed = meanings(method), allowed_values(method)
    own = {k: v for k, v in method.defaults().items() if k not in ("n_bits", "random_state")}
    rows = []
    for key, default in own.items():
        words = [prose(said.get(key, ""))]
        if key in allowed:
            words.append(f"*Allowed:* {in_words(allowed[key], default)}.")
        if key in method.space:
            words.append(f"*Tuned in:* {as_range(method.space[key])}.")
        if points := effects(name, key):
            values = ", ".join(f"{ap:.2f} at {format_value(value)}" for value, ap in points[1:])
            words.append(f"*AP:* {points[0][1]:.2f} by default, {values}.")
        text = "<br>".join(filter(None, words)).replace("|", "\\|")
        rows.append([f"`{key}`", f"`{format_value(default)}`", text])
    if rows:
        columns = ["parameter", "default", "meaning"]
        yield "## Parameters\n\n" + markdown_table(pd.DataFrame(rows, columns=columns))
        if any("*AP:*" in row[2] for row in rows):
            yield f"AP was measured with one parameter changed at a time: {MEASURED_ON}."


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
    """Return a docstring in Markdown: what is indented is a formula, underlined is a heading.

    Examples
    --------
    >>> print(prose("As :mod:`hashbench.methods.edsh_dcc` and :class:`DASHi`, ``x``."))
    As [edsh-dcc](edsh-dcc.md) and `DASHi`, `x`.
    >>> print(prose("The `X_m` of Wiki's paper: X_m'V is CCA's."))
    The `X_m` of Wiki's paper: {math}`X_{m}^{\\top}V` is CCA's.
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
            formula = formulas.latex("\n".join(line[4:] for line in lines))
            parts.append(f"```{{math}}\n{formula}\n```")
        elif len(lines) > 1 and set(lines[1]) == {"-"}:
            parts.append("\n".join([f"### {lines[0]}", "", *lines[2:]]))
        else:
            parts.append(paragraph)
    return "\n\n".join(map(_symbols, parts))


def _symbols(paragraph: str) -> str:
    """Typeset symbols such as X_m'V in the prose of a paragraph, outside of code."""
    if paragraph.startswith("```"):
        return paragraph
    parts = re.split(r"(`[^`]*`)", paragraph)
    parts[::2] = [
        SYMBOL.sub(lambda match: f"{{math}}`{formulas.latex(match[0])}`", part)
        for part in parts[::2]
    ]
    return "".join(parts)


def _paragraphs(docstring: str) -> str:
    """Return a docstring up to its first section of parameters."""
    return docstring.partition("\nParameters\n")[0].strip()
