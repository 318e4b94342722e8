"""Which methods differ significantly: over datasets, and on each dataset over its splits.

Every table and figure says what its test is over, how many blocks there are and what it says
nothing about. A test that cannot reject is not run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.analysis import tests
from hashbench.analysis.compare import blocks, compare
from hashbench.analysis.evidence import split_words
from hashbench.analysis.range_tests import (
    SPLITS,
    TESTS,
    Comparison,
    RangeTests,
    words_without_test,
)
from hashbench.analysis.summary import BySeed, MeanRank, by_seed, grouped, mean_ranks, records
from hashbench.data.splits import Searched
from hashbench.render import figures
from hashbench.render.comparison import p_text
from hashbench.render.critical_difference import pairs_matrix, rank_diagram
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
from hashbench.render.style import Style, arrow

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

#: The scope that is not a dataset's name: all of them, a block each.
DATASETS = "all datasets"


class Significance(Report):
    """Tests over datasets and over the splits of each, and the best two in detail."""

    name = "significance"
    title = "Significance"
    section = "Statistics"

    def data(self, results: Results) -> pd.DataFrame:
        """Return three kinds of rows, named by ``part``; ``scope`` is a dataset or all.

        ranks
            Methods from best to worst, by mean rank over slices, ties by mean score. ``mean_rank``
            of a dataset is over its slices; over datasets it is Friedman's, with his statistic and
            p-value and Nemenyi's critical difference, where they can reject. ``why`` says what is
            not tested, ``over`` what is.
        pairs
            Blocks that a method wins, ties and loses against another, and the p-value: over
            datasets Wilcoxon's with Holm's correction, of one dataset that of the range test.
        best two
            The best two methods for every dataset, code length and task.
        """
        import pandas as pd

        measure, range_tests = results.main_measure, RangeTests(results)
        rows: list[dict[str, Any]] = []
        for (database, codes), scores in grouped(results.scores([measure]), "database", "codes"):
            wide = blocks(scores, range_tests.evidence)
            if wide.shape[1] < 2:
                continue
            left = ", ".join(sorted(set(scores["method"]) - set(wide.columns)))
            about = {"measure": measure, "database": database, "codes": codes}
            about["left_out"] = left
            scores = scores[scores["method"].isin(wide.columns)]
            order = _order(scores)
            for row in (*_across(wide[list(order)]), *_within(scores, wide, range_tests, measure)):
                rows.append({**about, **row})
            only = results.select(databases=[database], codes=[codes])
            first, second = list(order)[:2]
            for row in records(compare(only, first, second, measure)):
                named = {"method": first, "against": second}
                rows.append({**about, **row._asdict(), **named, "part": "best two"})
        if not rows:
            raise NothingToShowError("needs two methods that have every cell")
        columns = [
            "part", "scope", "measure", "database", "codes", "method", "against", "blocks",
            "seeds", "left_out", "over", "why", "mean_rank", "mean", "statistic",
            "critical_difference", "wins", "ties", "losses", "p_value", "dataset", "bits",
            "task", "first", "second", "difference", "low", "high",
        ]  # fmt: skip
        return pd.DataFrame(rows).reindex(columns=columns)

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return for each kind of codes the widest scope as pictures, every scope as a table."""
        exhibits: list[Exhibit] = []
        keys = ["measure", "database", "codes"]
        for values, group in grouped(data, *keys):
            about: dict[str, Any] = dict(zip(keys, values, strict=True))
            parts = dict(list(grouped(group, "part")))
            first = parts["ranks"]["scope"].iloc[0]
            for scope, ranks in grouped(parts["ranks"], "scope"):
                pairs = parts["pairs"][parts["pairs"]["scope"] == scope]
                if scope == first:
                    exhibits += _pictures(ranks, pairs, about, style)
                exhibits.append(_against_best(pairs, ranks, about, style))
            if "best two" in parts:
                exhibits.append(_best_two(parts["best two"], about, style))
        return exhibits


def _order(scores: pd.DataFrame) -> dict[str, MeanRank]:
    """Return methods from best to worst over the slices of some scores."""
    cells = scores.groupby(["dataset", "bits", "task", "method"], sort=False)["value"].mean()
    slices = [
        {str(name): float(value) for name, value in each.droplevel([0, 1, 2]).items()}
        for _, each in cells.groupby(level=["dataset", "bits", "task"], sort=False)
    ]
    return mean_ranks(slices)


def _across(wide: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield ranks and pairs over datasets, splits averaged; nothing for a single dataset."""
    table = wide.groupby(level="dataset", sort=False).mean()
    count, methods = table.shape
    if count < 2:
        return
    scores = table.to_numpy()
    test: dict[str, Any] = {}
    why = []
    if methods > 2 and tests.least_friedman(count, methods) <= tests.ALPHA:
        found = tests.friedman(scores)
        test = {"statistic": found.statistic, "p_value": found.p_value}
        if found.critical_difference < methods - 1:
            test["critical_difference"] = found.critical_difference
    elif methods > 2:
        why.append(_not_run("Friedman's test", tests.least_friedman, count, methods))
    p_values = np.full((methods, methods), np.nan)
    if tests.least_wilcoxon(count, methods) <= tests.ALPHA:
        p_values = tests.wilcoxon_holm(scores)
    else:
        why.append(_not_run("Wilcoxon's test", tests.least_wilcoxon, count, methods))
    about = {"scope": DATASETS, "blocks": count}
    ranks, means = tests.ranks(scores).mean(axis=0), table.mean()
    for name, rank in zip(table.columns, ranks, strict=True):
        found_here = {"method": name, "mean_rank": rank, "mean": means[name]}
        yield {**about, **test, "why": "; ".join(why), "part": "ranks", **found_here}
    for row in _pairs(table, p_values):
        yield {**about, **row}


def _not_run(test: str, least: Any, count: int, methods: int) -> str:
    needed = tests.blocks_needed(least, methods)
    return (
        f"{test} is not run: with {count} datasets and {methods} methods its smallest corrected "
        f"p-value is {least(count, methods):.2g}; it would take {needed}"
    )


def _within(
    scores: pd.DataFrame, wide: pd.DataFrame, range_tests: RangeTests, measure: str
) -> Iterator[dict[str, Any]]:
    """Yield ranks and pairs of each dataset: tasks and code lengths averaged, over its splits."""
    for dataset, own in grouped(scores, "dataset"):
        order = _order(own)
        means = own.groupby(["method", "seed"], sort=False)["value"].mean().reset_index()
        ((_, by_seeds),) = by_seed(means.assign(dataset=dataset), ["dataset"])
        columns = [by_seeds.methods.index(name) for name in order]
        seeds = BySeed(by_seeds.seeds, list(order), by_seeds.values[:, columns])
        slices = [
            (task, bits, Searched(database, codes))
            for (task, bits, database, codes), _ in grouped(
                own, "task", "bits", "database", "codes"
            )
        ]
        found = range_tests.compare(seeds, dataset, slices, measure)
        table = wide.loc[wide.index.get_level_values("dataset") == dataset, list(order)]
        about = {"scope": dataset, "blocks": len(table), "seeds": len(seeds.seeds)}
        about["over"] = found.over
        why = _why(found, range_tests.evidence.overlaps[dataset])
        for name, (rank, score) in order.items():
            row = {"part": "ranks", "method": name, "mean_rank": rank, "mean": score}
            yield {**about, **row, "why": why}
        p_values = np.full((len(order), len(order)), np.nan)
        if found.test is not None:
            p_values = found.test.p_values
        for row in _pairs(table, p_values):
            yield {**about, **row}


def _why(found: Comparison, overlap: float) -> str:
    """Return why nothing was tested, or what it takes to find that the best two differ."""
    splits = len(found.scores)
    if found.test is None:
        return words_without_test(splits, found.seeds)
    first, second = np.argsort(-found.test.means, kind="stable")[:2]
    if found.over != SPLITS or found.test.differ[first, second] or not found.test.error:
        return ""
    variance = found.test.error**2 / (1 / splits + overlap)
    difference = float(found.test.means[first] - found.test.means[second])
    needed = tests.splits_needed(difference, variance, len(found.methods), overlap)
    number = "no number of splits of this dataset" if needed is None else f"about {needed} splits"
    return f"{number} would tell the two highest means apart, whose difference is {difference:.4f}"


def _pairs(table: pd.DataFrame, p_values: tests.Floats) -> Iterator[dict[str, Any]]:
    found, names = tests.count_wins(table.to_numpy()), list(table.columns)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i == j:
                continue
            wins, ties = int(found.wins[i, j]), int(found.ties[i, j])
            counts = {"wins": wins, "ties": ties, "losses": len(table) - wins - ties}
            row = {"part": "pairs", "method": first, "against": second, **counts}
            yield {**row, "p_value": float(p_values[i, j])}


def _circumstances(row: Any, style: Style) -> str:
    """Return what a scope's blocks are and what they cannot say."""
    count = int(row["blocks"])
    if row["scope"] == DATASETS:
        words = f"{count} datasets, a block each (splits, tasks and bits averaged)"
        words += "; nothing is said of data unlike these"
    else:
        title = style.datasets[row["scope"]].title
        words = f"{title}: {split_words(count, int(row['seeds']))} (tasks and bits averaged)"
        words += f"; {count} block{'s' if count > 1 else ''}; nothing is said of other datasets"
        words += "" if count > 1 else " or of training on other rows"
    return words + (f"; without {row['left_out']}, which lack cells" if row["left_out"] else "")


def _pictures(
    ranks: pd.DataFrame, pairs: pd.DataFrame, about: dict[str, Any], style: Style
) -> Iterator[Picture]:
    """Yield the critical-difference diagram and the matrix of pairs, where tests were run."""
    row, notes = ranks.iloc[0], style.marks(ranks["method"])
    name, words = " ".join(about.values()), _circumstances(ranks.iloc[0], style)
    if ranks["critical_difference"].notna().any():
        figure = figures.deferred(rank_diagram, ranks, style)
        subject = (
            f"Mean ranks over {words}; methods joined by a bar do not differ significantly "
            f"(Nemenyi, 5 %); Friedman's test: chi-square {row['statistic']:.2f}, "
            f"p = {row['p_value']:.2g}"
        )
        caption = style.summary(subject, **about)
        yield Picture(f"diagram {name}", caption, figure, notes, slices(ranks))
    if row["blocks"] > 1:
        test = "no test was run"
        if pairs["p_value"].notna().any():
            test = f"dots: significant (5 %) {_test_words(row)}"
        subject = "Blocks won minus blocks lost by the row's method against the column's, over"
        caption = style.summary(f"{subject} {words}; {test}", **about)
        figure = figures.deferred(pairs_matrix, pairs, ranks, style)
        yield Picture(f"pairs {name}", caption, figure, notes, slices(pairs))


def _test_words(row: Any) -> str:
    if row["scope"] == DATASETS:
        return "by Wilcoxon's test, Holm-corrected over all pairs"
    return TESTS[row["over"]]


def _against_best(
    pairs: pd.DataFrame, ranks: pd.DataFrame, about: dict[str, Any], style: Style
) -> Table:
    best, row = ranks["method"].iloc[0], ranks.iloc[0]
    against = {pair.method: pair for pair in records(pairs[pairs["against"] == best])}
    rows = []
    for each in records(ranks):
        pair = against.get(each.method)
        entries = [method_cell(style, each.method)]
        entries += [TableCell(f"{each.mean_rank:.2f}"), TableCell(f"{each.mean:.3f}")]
        if pair is None:
            entries += [TableCell("–")] * 2
        else:
            p_value = "–" if np.isnan(pair.p_value) else p_text(pair.p_value)
            entries.append(TableCell(f"{pair.wins:.0f}/{pair.ties:.0f}/{pair.losses:.0f}"))
            entries.append(TableCell(p_value))
        rows.append(entries)
    subject = f"{_circumstances(row, style)}. Mean rank and score, and every method against "
    subject += f"{style.methods[best].title}: blocks won, tied and lost"
    if pairs["p_value"].notna().any():
        subject += f", p-value {_test_words(row)}"
    notes = [row["why"]] if row["why"] else []
    header = ["", "mean rank", "score", "won/tied/lost", "p"]
    return Table(
        f"against best {' '.join(about.values())} {row['scope']}",
        style.summary(subject, **about),
        [[(word, 1) for word in header]],
        [Group("", rows)],
        "l" + "r" * (len(header) - 1),
        [*notes, *style.marks(ranks["method"])],
        slices(ranks),
    )


def _best_two(pairs: pd.DataFrame, about: dict[str, Any], style: Style) -> Table:
    first, second = (style.methods[pairs[key].iloc[0]] for key in ("method", "against"))
    rows = [
        [
            TableCell(style.datasets[row.dataset].title),
            TableCell(arrow(row.task)),
            TableCell(f"{row.bits:.0f}"),
            TableCell(_signed(row.difference)),
            TableCell(f"{_signed(row.low)} to {_signed(row.high)}" if row.over else "–"),
            TableCell(p_text(row.p_value) if row.over else "–"),
        ]
        for row in records(pairs)
    ]
    subject = f"{first.title} minus {second.title}, the best two: mean difference"
    if tests := [TESTS[over] for over in dict.fromkeys(pairs["over"]) if over]:
        subject += f", 95 % interval and p-value {' or '.join(tests)}"
    names = ("dataset", "task", "bits", "difference", "95 % interval", "p")
    name = f"best two {' '.join(about.values())}"
    header = [(word, 1) for word in names]
    shown = slices(pairs.drop(columns=["bits", "task"]))  # the best two of all
    caption = style.summary(subject, **about)
    return Table(name, caption, [header], [Group("", rows)], "llrrrr", slices=shown)


def _signed(number: float) -> str:
    return f"{number:+.3f}".replace("-", "−")
