"""Which differences between methods are more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.plugins.report import (
    Entry,
    Exhibit,
    Group,
    NothingToShowError,
    Picture,
    Report,
    Table,
)
from hashbench.printing import figures, texts
from hashbench.printing.comparison import p_words
from hashbench.printing.style import Look, arrow
from hashbench.results import stats
from hashbench.results.comparison import blocks, compare
from hashbench.results.summary import grouped, records

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.results.results import Results

ALPHA = 0.05

#: Lines of text that can be read, and an axis of ranks that can: at least so many points.
SMALLEST, NARROWEST = 7.5, 150


class Significance(Report):
    """Friedman's test with critical differences, all pairs, and the best two query by query."""

    name = "significance"
    title = "Significance"
    section = "Statistics"

    def data(self, results: Results) -> pd.DataFrame:
        """Return three kinds of rows, told apart by ``part``.

        ranks
            A method's mean rank and score over blocks, with Friedman's statistic and p-value and
            Nemenyi's critical difference.
        pairs
            Blocks that a method wins, ties and loses against another, and the p-value of
            Wilcoxon's test, Holm-corrected over all pairs.
        queries
            The best two methods: difference, interval and p-value of a bootstrap over queries.
        """
        import pandas as pd

        measure = results.main_measure
        rows: list[dict[str, Any]] = []
        for database, scores in grouped(results.scores([measure]), "database"):
            wide = blocks(scores)
            if len(wide) < 2 or wide.shape[1] < 2:
                continue
            about = {"measure": measure, "database": database, "blocks": len(wide)}
            left = sorted(set(scores["method"]) - set(wide.columns))
            about["left_out"] = ", ".join(left)
            about["datasets"] = ", ".join(dict.fromkeys(str(name) for name, _ in wide.index))
            rows += [{**about, **row} for row in (*_ranks(wide), *_pairs(wide))]
            best = list(wide.mean().sort_values(ascending=False, kind="stable").index[:2])
            only = results.select(databases=[database])
            for row in records(compare(only, best[0], best[1], measure)):
                named = {"method": best[0], "against": best[1], "p_value": row.p_holm}
                rows.append({**about, **row._asdict(), **named, "part": "queries"})
        if not rows:
            raise NothingToShowError("needs two blocks (datasets or seeds) and two methods")
        columns = [
            "part", "measure", "database", "method", "against", "datasets", "blocks", "left_out",
            "mean_rank", "mean", "statistic", "critical_difference", "wins", "ties", "losses",
            "p_value", "dataset", "bits", "task", "first", "second", "difference", "low", "high",
            "queries", "at_most",
        ]  # fmt: skip
        return pd.DataFrame(rows).reindex(columns=columns)

    def draw(self, data: pd.DataFrame, look: Look) -> Sequence[Exhibit]:
        """Return the diagram, the matrix of pairs and two tables, for each kind of codes."""
        exhibits: list[Exhibit] = []
        for (measure, database), group in grouped(data, "measure", "database"):
            parts = dict(list(grouped(group, "part")))
            ranks = parts["ranks"]
            words = _circumstances(ranks.iloc[0])
            name, datasets = f"{measure} {database}", ranks["datasets"].iloc[0].split(", ")
            about: dict[str, Any] = {"measure": measure, "database": database}
            notes = look.notes(ranks["method"])
            if ranks["critical_difference"].notna().any():
                figure, meaning = _diagram(ranks, look)
                caption = look.caption(
                    f"Mean ranks over {words}; {meaning} are not told apart "
                    f"(Nemenyi, 5 %); {_friedman(ranks.iloc[0])}",
                    datasets,
                    **about,
                )
                exhibits.append(Picture(f"diagram {name}", caption, figure, notes))
            caption = look.caption(
                f"Blocks won minus blocks lost by the row's method against the column's, over "
                f"{words}; dots: Wilcoxon's test, Holm-corrected over all pairs, tells them apart "
                "(5 %)",
                datasets,
                **about,
            )
            matrix = _matrix(parts["pairs"], ranks, look)
            exhibits.append(Picture(f"pairs {name}", caption, matrix, notes))
            exhibits.append(_against_best(parts["pairs"], ranks, name, words, about, look))
            if "queries" in parts:
                exhibits.append(_best_two(parts["queries"], name, about, look))
        return exhibits


def _ranks(wide: pd.DataFrame) -> list[dict[str, Any]]:
    scores = wide.to_numpy()
    test: dict[str, Any] = {}
    ranks = stats.ranks(scores).mean(axis=0)
    if wide.shape[1] > 2:
        friedman = stats.friedman(scores, ALPHA)
        test = {
            "statistic": friedman.statistic,
            "p_value": friedman.p_value,
            "critical_difference": friedman.critical_difference,
        }
    means = wide.mean()
    return [
        {"part": "ranks", "method": name, "mean_rank": rank, "mean": means[name], **test}
        for name, rank in zip(wide.columns, ranks, strict=True)
    ]


def _pairs(wide: pd.DataFrame) -> list[dict[str, Any]]:
    found, count = stats.pairwise(wide.to_numpy()), len(wide)
    names = list(wide.columns)
    return [
        {
            "part": "pairs",
            "method": names[i],
            "against": names[j],
            "wins": int(found.wins[i, j]),
            "ties": int(found.ties[i, j]),
            "losses": count - int(found.wins[i, j]) - int(found.ties[i, j]),
            "p_value": float(found.p_values[i, j]),
        }
        for i in range(len(names))
        for j in range(len(names))
        if i != j
    ]


def _circumstances(row: Any) -> str:
    words = f"{row['blocks']:.0f} blocks (a dataset split by a seed; mean over tasks and bits)"
    return words + (f", without {row['left_out']}, which lack cells" if row["left_out"] else "")


def _friedman(row: Any) -> str:
    return f"Friedman's test: chi-square {row['statistic']:.2f}, p = {row['p_value']:.2g}"


def _against_best(
    pairs: pd.DataFrame,
    ranks: pd.DataFrame,
    name: str,
    words: str,
    about: dict[str, Any],
    look: Look,
) -> Table:
    order = ranks.sort_values(["mean_rank", "method"], kind="stable")
    best = order["method"].iloc[0]
    against = {row.method: row for row in records(pairs[pairs["against"] == best])}
    rows = []
    for row in records(order):
        shown = look.methods[row.method]
        entries = [Entry(shown.title, mark=shown.mark)]
        entries += [Entry(f"{row.mean_rank:.2f}"), Entry(f"{row.mean:.4f}")]
        pair = against.get(row.method)
        if pair is None:
            entries += [Entry("–"), Entry("–")]
        else:
            counts = f"{pair.wins:.0f}/{pair.ties:.0f}/{pair.losses:.0f}"
            entries += [Entry(counts), Entry(f"{pair.p_value:.2g}")]
        rows.append(entries)
    least = 2.0 ** (1 - int(ranks["blocks"].iloc[0]))
    caption = look.summary(
        f"Mean rank and score over {words}, and every method against {look.methods[best].title}: "
        "blocks won, tied and lost, p-value of Wilcoxon's test, Holm-corrected over all pairs",
        **about,
    )
    notes = [f"with so many blocks the smallest p-value before correction is {least:.2g}"]
    notes += [*look.notes(order["method"]), *look.facts(ranks["datasets"].iloc[0].split(", "))]
    header = [("", 1), *((word, 1) for word in ("mean rank", "score", "won/tied/lost", "p"))]
    return Table(f"against best {name}", caption, [header], [Group("", rows)], "lrrrr", notes)


def _best_two(queries: pd.DataFrame, name: str, about: dict[str, Any], look: Look) -> Table:
    first, second = (look.methods[queries[key].iloc[0]] for key in ("method", "against"))
    rows = [
        [
            Entry(look.datasets[row.dataset].title),
            Entry(arrow(row.task)),
            Entry(f"{row.bits:.0f}"),
            Entry(f"{row.difference:+.4f}".replace("-", "−")),
            Entry(f"{row.low:+.4f} to {row.high:+.4f}".replace("-", "−")),
            Entry(p_words(row.p_value, row.at_most).removeprefix("= ")),
        ]
        for row in records(queries)
    ]
    caption = look.summary(
        f"{first.title} minus {second.title}, the best two, query by query: mean difference, 95 % "
        "interval and p-value of a paired bootstrap over queries, Holm-corrected over the rows",
        **about,
    )
    names = ("dataset", "task", "bits", "difference", "95 % interval", "p")
    header = [(word, 1) for word in names]
    notes = look.facts(queries["dataset"])
    return Table(f"best two {name}", caption, [header], [Group("", rows)], "llrrrr", notes)


def _cell(figure: Any, names: list[str], look: Look) -> tuple[float, float]:
    """Return how wide a cell of the matrix and the names beside it are, in inches."""
    widest = max(texts.text_points(figure, name) for name in names)
    words = widest / texts.POINTS + 0.1
    room = max(look.inches - words - 0.8, 0.8)
    return min(max(0.17, 1.3 / len(names)), room / len(names)), words


def _matrix(pairs: pd.DataFrame, ranks: pd.DataFrame, look: Look) -> Any:
    order = list(ranks.sort_values(["mean_rank", "method"], kind="stable")["method"])
    place = {method: number for number, method in enumerate(order)}
    grid = np.full((len(order), len(order)), np.nan)
    for row in records(pairs):
        grid[place[row.method], place[row.against]] = row.wins - row.losses
    count = int(ranks["blocks"].iloc[0])
    figure, (panel,) = figures.make_figure(look, 1, 1)
    names = [texts.label(look, method) for method in order]
    cell, words = _cell(figure, names, look)
    numbered = cell * texts.POINTS < SMALLEST  # no room for names below the columns
    if numbered:
        names = [f"{name} {number}" for number, name in enumerate(names, 1)]
        cell, words = _cell(figure, names, look)
    width = cell * len(order)
    height = max(cell, SMALLEST / texts.POINTS) * len(order)
    below = 0.2 if numbered else words
    # beside the cells stand the names and the scale of colours
    figure.set_size_inches(min(look.inches, width + words + 0.8), height + below + 0.1)
    # the ends of the colours are too dark for dots
    image = panel.imshow(grid, cmap="PuOr", vmin=-1.6 * count, vmax=1.6 * count, aspect="auto")
    told = pairs[pairs["p_value"] <= ALPHA]
    where = [place[method] for method in told["against"]], [place[m] for m in told["method"]]
    panel.plot(*where, "o", color="black", markersize=1.5)
    text = min(texts.NAME_SIZE, 0.9 * height / len(order) * texts.POINTS)
    if numbered:
        ticks = rank_ticks(len(order), int(width * texts.POINTS // 14))
        panel.set_xticks([tick - 1 for tick in ticks], [str(tick) for tick in ticks])
    else:
        panel.set_xticks(range(len(order)), names, rotation=90, fontsize=text)
    panel.set_yticks(range(len(order)), names, fontsize=text)
    panel.grid(visible=False)
    panel.tick_params(length=0)
    bar = figure.colorbar(image, ax=panel, shrink=0.9, label="won minus lost")
    bar.ax.set_ylim(-count, count)
    bar.set_ticks([-count, 0, count])
    return figure


def rank_ticks(count: int, most: int) -> list[int]:
    """Return the ranks that an axis names: the ends, and round numbers not too near to them."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, count) if count / step <= max(most, 2))
    inner = [rank for rank in range(step, count, step) if min(rank - 1, count - rank) >= 0.7 * step]
    return sorted({1, count, *inner})


def _diagram(ranks: pd.DataFrame, look: Look) -> tuple[Any, str]:
    """Draw a critical-difference diagram, best first; return it and what it says.

    Names stand at both sides of the ranks or, where many leave them no room, a line each.
    """
    order = ranks.sort_values(["mean_rank", "method"], kind="stable")
    figure, _ = figures.make_figure(look, 1, 1)
    names = [texts.label(look, name) for name in order["method"]]
    widest = max(texts.text_points(figure, name) for name in names) + 36
    inner = look.inches * texts.POINTS - 2 * widest
    if inner < NARROWEST and len(order) > figures.CROWDED:
        return _lines(order, look), "methods whose bars overlap"
    return _joined(order, look, widest, max(inner, 60)), "methods joined by a bar"


def _lines(order: pd.DataFrame, look: Look) -> Any:
    """Draw a line a method: its mean rank with half a critical difference to either side."""
    count = len(order)
    figure, (axes,) = figures.make_figure(look, 1, figures.rows_height(count))
    half = float(order["critical_difference"].iloc[0]) / 2
    for y, row in zip(range(count - 1, -1, -1), records(order), strict=True):
        colour = look.methods[row.method].colour
        ends = row.mean_rank - half, row.mean_rank + half
        axes.hlines(y, *ends, color=colour, linewidth=2.5, alpha=0.45)
        axes.plot(row.mean_rank, y, "o", color=colour)
    names = [texts.label(look, method) for method in order["method"]]
    axes.set_yticks(range(count - 1, -1, -1), names)
    axes.tick_params(axis="y", length=0)
    axes.set_xticks(rank_ticks(count, 8))
    axes.set(ylim=(-0.7, count - 0.3), xlabel="mean rank")
    return figure


def _joined(order: pd.DataFrame, look: Look, widest: float, inner: float) -> Any:
    """Draw ranks along a line, names at both sides of it, bars below it.

    ``widest`` and ``inner`` are the widths of the names and of the line, in points.
    """
    methods, values = list(order["method"]), order["mean_rank"].to_numpy()
    difference = float(order["critical_difference"].iloc[0])
    groups = stats.cliques(values, difference)
    count, step = len(methods), 0.5  # heights are in lines of text
    half = -(-count // 2)
    below = 0.6 + step * len(groups)
    height = below + half + 0.3
    figure, (axes,) = figures.make_figure(look, 1, (height + 2.4) * 0.135)
    room = (count - 1) * widest / inner
    axes.set(xlim=(1 - room, count + room), ylim=(height, -2.4))
    axes.set_axis_off()
    axes.hlines(0, 1, count, color="black", linewidth=0.8)
    for tick in rank_ticks(count, int(inner // 28)):
        axes.vlines(tick, -0.3, 0, color="black", linewidth=0.8)
        axes.text(tick, -0.4, str(tick), ha="center", va="bottom", fontsize=7)
    axes.hlines(-1.9, 1, 1 + difference, color="black", linewidth=1.5)
    axes.text(
        1 + difference + 0.01 * count, -1.9, f"CD = {difference:.2f}", va="center", fontsize=7
    )
    for index, (method, rank) in enumerate(zip(methods, values, strict=True)):
        left = index < half
        y = below + (index if left else count - 1 - index) + 0.5
        edge = 1 - 0.02 * count if left else count + 0.02 * count
        colour = look.methods[method].colour
        axes.plot([rank, rank, edge], [0, y, y], color=colour, linewidth=0.7)
        words = f"{texts.label(look, method)}  {rank:.2f}"
        if not left:
            words = f"{rank:.2f}  {texts.label(look, method)}"
        gap = 0.01 * count * (-1 if left else 1)
        axes.text(edge + gap, y, words, ha="right" if left else "left", va="center", fontsize=7)
    overhang = 0.004 * count
    for number, group in enumerate(groups):
        y = 0.45 + step * number
        ends = values[group[0]], values[group[-1]]
        axes.hlines(y, ends[0] - overhang, ends[1] + overhang, color="black", linewidth=1.8)
    return figure
