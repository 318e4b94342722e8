"""Which differences between methods are more than chance, and what they are known from.

Datasets are independent pieces of evidence, random splits of one dataset overlap, and on a single
split there are only its queries: three kinds of evidence with a test each. Every exhibit says
which it stands on, how many blocks there are and what cannot be said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.analysis import bayesian_tests, tests
from hashbench.analysis.compare import blocks, compare, over_items
from hashbench.analysis.evidence import Evidence, find_evidence, split_words
from hashbench.analysis.summary import grouped, records
from hashbench.render import figures
from hashbench.render.comparison import TESTS, p_words
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
    """Tests over datasets, over random splits or over queries, and the best two in detail."""

    name = "significance"
    title = "Significance"
    section = "Statistics"

    def data(self, results: Results) -> pd.DataFrame:
        """Return three kinds of rows, named by ``part``; ``scope`` is a dataset or all.

        ranks
            A method's mean rank and score over the scope's blocks. Over datasets with Friedman's
            statistic and p-value and Nemenyi's critical difference, where they can reject; ``why``
            says what is not tested.
        pairs
            Blocks that a method wins, ties and loses against another; the p-value, corrected over
            all pairs: Wilcoxon's over datasets, of a t-test corrected for shared rows over splits,
            against the best of a bootstrap over items on one split; and the probabilities of being
            better, equal within .01, and worse.
        queries
            The best two methods for every dataset, code length and task.
        """
        import pandas as pd

        measure, evidence = results.main_measure, find_evidence(results)
        rows: list[dict[str, Any]] = []
        for (database, codes), scores in grouped(results.scores([measure]), "database", "codes"):
            wide = blocks(scores, evidence)
            if wide.shape[1] < 2:
                continue
            left = ", ".join(sorted(set(scores["method"]) - set(wide.columns)))
            about = {"measure": measure, "database": database, "codes": codes}
            about["left_out"] = left
            only = results.select(databases=[database], codes=[codes])
            for row in (*_across(wide), *_within(wide, evidence, only, measure)):
                rows.append({**about, **row})
            best = list(wide.mean().sort_values(ascending=False, kind="stable").index[:2])
            for row in records(compare(only, best[0], best[1], measure)):
                named = {"method": best[0], "against": best[1], "p_value": row.p_holm}
                rows.append({**about, **row._asdict(), **named, "part": "queries"})
        if not rows:
            raise NothingToShowError("needs two methods that have every cell")
        columns = [
            "part", "scope", "measure", "database", "codes", "method", "against", "blocks",
            "seeds", "left_out", "why", "mean_rank", "mean", "statistic", "critical_difference",
            "wins", "ties", "losses", "p_value", "better", "equal", "worse", "dataset", "bits",
            "task", "first", "second", "difference", "low", "high", "queries", "test", "at_most",
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
            if "queries" in parts:
                exhibits.append(_best_two(parts["queries"], about, style))
        return exhibits


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
    yield from _ranks(table, {**about, **test, "why": "; ".join(why)})
    rng, known = np.random.default_rng(0), {}
    for i, j, row in _pairs(table, p_values):
        if i < j:
            known[i, j] = bayesian_tests.over_datasets(scores[:, i] - scores[:, j], rng)
        better, equal, worse = known[i, j] if i < j else known[j, i][::-1]
        yield {
            **about,
            **row,
            "better": float(better),
            "equal": float(equal),
            "worse": float(worse),
        }


def _not_run(test: str, least: Any, count: int, methods: int) -> str:
    needed = tests.blocks_needed(least, methods)
    return (
        f"{test} is not run: with {count} datasets and {methods} methods its smallest corrected "
        f"p-value is {least(count, methods):.2g}; it would take {needed}"
    )


def _within(
    wide: pd.DataFrame, evidence: Evidence, results: Results, measure: str
) -> Iterator[dict[str, Any]]:
    """Yield ranks and pairs of each dataset: over its splits, or over the items of its one."""
    for dataset, table in wide.groupby(level="dataset", sort=False):
        name, scores = str(dataset), table.to_numpy()
        count, overlap = len(table), evidence.overlaps[str(dataset)]
        about = {"scope": name, "blocks": count, "seeds": evidence.seeds(name)}
        enough = count >= tests.LEAST_BLOCKS
        why = ""
        if not enough:
            found = "1 block" if count == 1 else f"{count} blocks"
            why = f"{found}: no test over splits is run; it would take {tests.LEAST_BLOCKS}"
        yield from _ranks(table, {**about, "why": why})
        p_values = np.full((table.shape[1], table.shape[1]), np.nan)
        if enough:
            p_values = tests.pairs_over_splits(scores, overlap)
            differences = scores[:, :, None] - scores[:, None, :]
            chances = bayesian_tests.over_splits(differences, overlap)._asdict()
        best = int(scores.mean(axis=0).argmax())
        only = results.select(datasets=[name])
        for i, j, row in _pairs(table, p_values):
            if enough:
                row |= {key: float(values[i, j]) for key, values in chances.items()}
            elif j == best:
                row |= over_items(only, row["method"], row["against"], measure)
                row["p_value"] = min(
                    1.0, row["p_value"] * table.shape[1] * (table.shape[1] - 1) / 2
                )
            yield {**about, **row}


def _ranks(table: pd.DataFrame, about: dict[str, Any]) -> Iterator[dict[str, Any]]:
    ranks, means = tests.ranks(table.to_numpy()).mean(axis=0), table.mean()
    for name, rank in zip(table.columns, ranks, strict=True):
        yield {**about, "part": "ranks", "method": name, "mean_rank": rank, "mean": means[name]}


def _pairs(
    table: pd.DataFrame, p_values: tests.Floats
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    found, names = tests.count_wins(table.to_numpy()), list(table.columns)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i == j:
                continue
            wins, ties = int(found.wins[i, j]), int(found.ties[i, j])
            counts = {"wins": wins, "ties": ties, "losses": len(table) - wins - ties}
            row = {"part": "pairs", "method": first, "against": second, **counts}
            yield i, j, {**row, "p_value": float(p_values[i, j])}


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
            test = f"dots: {_test_words(row)} tells them apart (5 %)"
        subject = "Blocks won minus blocks lost by the row's method against the column's, over"
        caption = style.summary(f"{subject} {words}; {test}", **about)
        figure = figures.deferred(pairs_matrix, pairs, ranks, style)
        yield Picture(f"pairs {name}", caption, figure, notes, slices(pairs))


def _test_words(row: Any) -> str:
    if row["scope"] == DATASETS:
        return "Wilcoxon's test, Holm-corrected over all pairs,"
    if row["blocks"] >= tests.LEAST_BLOCKS:
        return "a t-test corrected for the rows that splits share and, by Holm, for all pairs,"
    return "a paired bootstrap over the items that ask, corrected for all pairs,"


def _against_best(
    pairs: pd.DataFrame, ranks: pd.DataFrame, about: dict[str, Any], style: Style
) -> Table:
    order = ranks.sort_values(["mean", "method"], ascending=[False, True], kind="stable")
    best, row = order["method"].iloc[0], ranks.iloc[0]
    against = {pair.method: pair for pair in records(pairs[pairs["against"] == best])}
    margin = f"{bayesian_tests.MARGIN:g}".lstrip("0")
    chances = pairs["better"].notna().any()
    rows = []
    for each in records(order):
        pair = against.get(each.method)
        entries = [method_cell(style, each.method)]
        entries += [TableCell(f"{each.mean_rank:.2f}"), TableCell(f"{each.mean:.4f}")]
        entries += _versus(pair, bool(chances))
        rows.append(entries)
    test = _test_words(row).removesuffix(",") if pairs["p_value"].notna().any() else ""
    subject = f"{_circumstances(row, style)}. Mean rank and score, and every method against "
    subject += f"{style.methods[best].title}: blocks won, tied and lost"
    subject += f", p-value of {test}" if test else ""
    if chances:
        kind = "signed-rank test" if row["scope"] == DATASETS else "correlated t-test"
        subject += f", probabilities of being below it by more than {margin}, within, and above "
        subject += f"(Bayesian {kind})"
    notes = [row["why"]] if row["why"] else []
    header = ["", "mean rank", "score", "won/tied/lost", "p"]
    header += [f"below/within {margin}/above"] if chances else []
    return Table(
        f"against best {' '.join(about.values())} {row['scope']}",
        style.summary(subject, **about),
        [[(word, 1) for word in header]],
        [Group("", rows)],
        "l" + "r" * (len(header) - 1),
        [*notes, *style.marks(order["method"])],
        slices(ranks),
    )


def _versus(pair: Any, chances: bool) -> list[TableCell]:
    """Return a method's columns about the best: blocks, p-value and probabilities."""
    if pair is None:
        return [TableCell("–")] * (3 if chances else 2)
    counts = f"{pair.wins:.0f}/{pair.ties:.0f}/{pair.losses:.0f}"
    bound = pair.at_most is True
    p_value = "–" if np.isnan(pair.p_value) else p_words(pair.p_value, bound).removeprefix("= ")
    entries = [TableCell(counts), TableCell(p_value)]
    if chances and np.isnan(pair.better):
        entries.append(TableCell("–"))
    elif chances:
        each = (pair.worse, pair.equal, pair.better)
        entries.append(TableCell("/".join(f"{value:.2f}".lstrip("0") or "0" for value in each)))
    return entries


def _best_two(queries: pd.DataFrame, about: dict[str, Any], style: Style) -> Table:
    first, second = (style.methods[queries[key].iloc[0]] for key in ("method", "against"))
    rows = [
        [
            TableCell(style.datasets[row.dataset].title),
            TableCell(arrow(row.task)),
            TableCell(f"{row.bits:.0f}"),
            TableCell(f"{row.difference:+.4f}".replace("-", "−")),
            TableCell(f"{row.low:+.4f} to {row.high:+.4f}".replace("-", "−")),
            TableCell(p_words(row.p_value, row.at_most).removeprefix("= ")),
        ]
        for row in records(queries)
    ]
    tests = [TESTS[name] for name in dict.fromkeys(queries["test"])]
    caption = style.summary(
        f"{first.title} minus {second.title}, the best two: mean difference, 95 % interval and "
        f"p-value {' or '.join(tests)}; Holm-corrected over the rows",
        **about,
    )
    names = ("dataset", "task", "bits", "difference", "95 % interval", "p")
    name = f"best two {' '.join(about.values())}"
    header = [(word, 1) for word in names]
    shown = slices(queries.drop(columns=["bits", "task"]))  # the best two of all
    return Table(name, caption, [header], [Group("", rows)], "llrrrr", slices=shown)
