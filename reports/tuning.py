"""What tuning has changed: default against tuned, ranks, what was chosen and what it cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.rank_changes import expected_best, tau_words, to_ranks
from hashbench.analysis.summary import grouped, one_database, over_seeds, records
from hashbench.core.units import format_duration
from hashbench.data.splits import SEARCHED
from hashbench.execution.tuning.search import Search
from hashbench.plugins.selection import TUNED, full_name
from hashbench.plugins.space import at_ends
from hashbench.render import figures, plots
from hashbench.render.report import (
    Exhibit,
    Group,
    NothingToShowError,
    Picture,
    Report,
    Table,
    TableCell,
    method_cell,
    slices,
)
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from hashbench.analysis.results import Results

HEADER = ("method", "default", "tuned", "gain", "± splits", "rank", "search", "chosen")

#: What a row of the data is about: a search with its outcome, or the best of so many trials.
OUTCOME, BEST = "outcome", "best of trials"

#: Where the best of trials is scored, as its panels are called.
VALIDATION, QUERIES = "validation rows", "queries"


class Tuning(Report):
    """Default against tuned on queries: scores, ranks, choices, cost; the best of k trials."""

    name = "tuning"
    title = "Tuning"
    section = "Tables of scores"

    def data(self, results: Results) -> pd.DataFrame:
        """Return two kinds of rows; the column ``what`` says which.

        "outcome": a row a search and code length, with both scores on queries, the choice, the
        parameters at the end of their range, and the training seconds of all trials.
        "best of trials": ``value`` after ``trials`` trials, on the rows that ``task`` names; on
        validation rows the expectation over all orders of the trials, on queries what is known:
        the default, which is the first trial, and the choice after the last.
        """
        import pandas as pd

        if not results.searches:
            raise NothingToShowError("nothing was tuned; run with --tune")
        measure = results.main_measure
        scores = one_database(results.scores([measure]))
        searched = scores.drop_duplicates("dataset").set_index("dataset")[SEARCHED]
        means = scores.groupby(["dataset", "method", "bits", "seed"])["value"].mean().to_dict()
        rows = []
        for search, bits in _searched(results):
            rows += _rows(results, search, bits, means)
        if not rows:
            raise NothingToShowError("no method has a default and a tuned score")
        table = pd.DataFrame(rows).assign(measure=measure)
        return table.join(searched, on="dataset")

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a table a dataset and code length, and a figure a code length."""
        outcomes, best = (data[data["what"] == what] for what in (OUTCOME, BEST))
        exhibits: list[Exhibit] = [
            _table(group, style, *keys)
            for keys, group in grouped(outcomes, "measure", "dataset", "bits")
        ]
        for (measure, bits, *searched), group in grouped(best, "measure", "bits", *SEARCHED):
            columns = ["dataset", "method", "task", "trials", "seed", "value"]
            lines = over_seeds(group[columns]).sort_values("trials", kind="stable")
            for name, part in figures.paginate(lines, style):
                exhibits.append(_picture(part, style, measure, bits, searched, name))
        return exhibits


def _searched(results: Results) -> Iterator[tuple[Search, int]]:
    """Yield, for every method, split and code length, the search that its parameters are from."""
    searches: dict[tuple[str, str, int], dict[int, Search]] = {}
    for search in results.searches:
        cell = search.cell
        searches.setdefault((cell.dataset, cell.label, cell.seed), {})[cell.bits] = search
    for own in searches.values():
        for bits in results.bits:
            yield own.get(bits) or next(iter(own.values())), bits


def _rows(
    results: Results, search: Search, bits: int, means: Mapping[Any, float]
) -> list[dict[str, Any]]:
    cell, found = search.cell, results.store.trials.read(search.id)
    tried = [found[each.id] for each in search.trials if each.id in found]
    best = search.best_point(found)
    plugin = results.registry.methods.get(cell.method)
    names = (cell.label, full_name(f"{cell.method}{TUNED}", cell.params))
    before, after = (means.get((cell.dataset, name, bits, cell.seed)) for name in names)
    if best is None or plugin is None or before is None or after is None:
        return []
    about = {"dataset": cell.dataset, "bits": bits, "method": cell.label, "seed": cell.seed}
    outcome = {
        "what": OUTCOME,
        **about,
        "trials": len(tried),
        "not_done": sum(each.status != "done" for each in tried),
        "default": float(before),
        "tuned": float(after),
        "chosen": search.trials[best].params or "the default",
        "at_end": ", ".join(at_ends(plugin.cls.space, search.points[best].settings)),
        "seconds": math.fsum(each.fit_seconds for each in tried),
    }
    if bits != cell.bits:  # tuned at another length: its trials say nothing about this one
        return [outcome]
    scores = [each.score if each.status == "done" else 0.0 for each in tried]
    curve = [(VALIDATION, k + 1, value) for k, value in enumerate(expected_best(scores))]
    curve += [(QUERIES, 1, before), (QUERIES, len(tried), after)]
    lines = [
        {"what": BEST, **about, "task": task, "trials": trials, "value": float(value)}
        for task, trials, value in curve
    ]
    return [outcome, *lines]


def _table(group: pd.DataFrame, style: Style, measure: str, dataset: str, bits: int) -> Table:
    group = group.assign(gain=group["tuned"] - group["default"])
    means = group.groupby("method")[["default", "tuned", "gain", "seconds"]].mean()
    means["spread"] = group.groupby("method")["gain"].std(ddof=1)
    before, after = to_ranks(means["default"]), to_ranks(means["tuned"])
    rows = []
    for method in means.sort_values("tuned", ascending=False).index:
        mean, own = means.loc[method], group[group["method"] == method]
        texts = [
            f"{mean['default']:.3f}",
            f"{mean['tuned']:.3f}",
            f"{mean['gain']:+.3f}",
            "–" if math.isnan(mean["spread"]) else f"{mean['spread']:.3f}",
            f"{before[method]} → {after[method]}",
            format_duration(mean["seconds"]),
            "; ".join(dict.fromkeys(_choice(row) for row in records(own))),
        ]
        rows.append([method_cell(style, method), *map(TableCell, texts)])
    subject = (
        f"Default and tuned parameters on queries of {style.datasets[dataset].title} at {bits} "
        "bits, mean of the tasks"
    )
    seeds = list(group.groupby("method")["seed"].nunique())
    searched = dict(group[SEARCHED].iloc[0])
    caption = style.summary(subject, measure=measure, **searched, seeds=seeds)
    header = [(name, 1) for name in HEADER]
    name = f"{dataset} {bits}"
    notes = [*_notes(group, means, style), *style.marks(group["method"])]
    return Table(name, caption, [header], [Group("", rows)], "lrrrrrrw", notes, slices(group))


def _notes(group: pd.DataFrame, means: pd.DataFrame, style: Style) -> list[str]:
    most, cost = int(group["trials"].max()), format_duration(group["seconds"].sum())
    agreement = tau_words(means["default"].tolist(), means["tuned"].tolist())
    notes = [
        f"mean gain {means['gain'].mean():+.4f}; {agreement}",
        f"{most} trials a search at most; all searches together trained for {cost}, a search as "
        "long as the column says",
    ]
    ends: Counter[tuple[str, str]] = Counter()
    for row in records(group[group["at_end"] != ""]):
        ends.update((row.method, name) for name in row.at_end.split(", "))
    if ends:
        named = ", ".join(
            f"{style.methods[method].title} {name} ({count} of {(group['method'] == method).sum()})"
            for (method, name), count in ends.items()
        )
        notes.append(
            f"! warning: the winner lies at the end of a range, a wider one may do: {named}"
        )
    if failed := int(group["not_done"].sum()):
        notes.append(
            f"{failed} of {int(group['trials'].sum())} trials are not done; they never win"
        )
    return notes


def _picture(
    data: pd.DataFrame,
    style: Style,
    measure: str,
    bits: int,
    searched: Sequence[str],
    name: str,
) -> Picture:
    caption = style.summary(
        f"The best of so many trials at {bits} bits, mean of the tasks with standard deviations "
        "over splits: on validation rows the expectation over all orders of the trials, on queries "
        "the default and what was chosen after the last",
        measure=measure,
        **dict(zip(SEARCHED, searched, strict=True)),
        seeds=list(data["seeds"]),
    )
    title = f"{measure} {bits} bits {' '.join(searched)} {name}"
    line = (plots.line_figure, "trials", "mean", ("trials", measure), _doubling)
    return figures.picture(title, caption, style, _thinned(data), *line)


def _thinned(data: pd.DataFrame) -> pd.DataFrame:
    """Leave 1, 2, 4, ... trials and the last: a mark for each of 256 would hide the line."""
    last = data.groupby(["dataset", "method", "task"])["trials"].transform("max")
    doubled = data["trials"].map(lambda number: int(number).bit_count() == 1)
    return data[doubled | (data["trials"] == last)]


def _doubling(panel: Axes) -> None:
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_formatter("{x:g}")


def _choice(row: Any) -> str:
    return f"{row.chosen}{f' (! {row.at_end})' if row.at_end else ''}"
