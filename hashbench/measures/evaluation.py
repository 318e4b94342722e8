"""The evaluator: any number of measures from one ranking, each looked up by its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.base.errors import HashbenchError
from hashbench.measures.gathering import Gathered, check_ranks, gather, rel_of, round_ranks
from hashbench.measures.names import DEFAULT_MEASURES, ByName, Measure, parse, parse_many
from hashbench.measures.orders import Ranks, Values
from hashbench.measures.rankings import Ranking, hamming_ranking
from hashbench.measures.values import Ball, of_ball, settle_empty


@dataclass(frozen=True)
class Score:
    """One measure's number.

    Attributes
    ----------
    measure : Measure
    value : float
        Mean over the queries that count, or the pooled number of a ``mean=micro`` measure.
    n_counted : int
        Queries that count.
    n_empty : int
        Queries without a relevant item, whether they count or not.
    bounds : (float, float) or None
        Smallest and largest value that any order of tied items gives.
    chance : float or None
        Value expected of a random order of the database.
    chance_error : float or None
        Standard error, over the queries that count, of the value's distance from chance.
    per_query : (queries,) float64 or None
        nan for queries that do not count. Of a pooled number: what each query alone would give.
    """

    measure: Measure
    value: float
    n_counted: int
    n_empty: int
    bounds: tuple[float, float] | None = None
    chance: float | None = None
    chance_error: float | None = None
    per_query: Values | None = None


@dataclass(frozen=True)
class Curve:
    """Precision and recall by rank or by Hamming radius.

    Attributes
    ----------
    measure : Measure
    axis : str
        "rank" or "radius".
    x, precision, recall : (points,) arrays
        A pool without a single item has no precision: nan.
    per_query : (queries, points, 2) float64 or None
        Precision and recall of each query; nan for queries that do not count.
    """

    measure: Measure
    axis: str
    x: Ranks
    precision: Values
    recall: Values
    per_query: Values | None = None


class Evaluation(Mapping[str, float]):
    """Numbers by canonical name; `scores` holds what belongs to each, `curves` the curves.

    Any name that parses to a measure finds it, a preset's too.
    """

    def __init__(self, scores: Iterable[Score], curves: Iterable[Curve]) -> None:
        self.scores = ByName((str(score.measure), score) for score in scores)
        self.curves = ByName((str(curve.measure), curve) for curve in curves)

    def __getitem__(self, name: str) -> float:
        key = str(parse(name))
        if key in self.curves:
            raise HashbenchError(f"measure {key!r} is a curve; it stands in .curves")
        return self.scores[name].value

    def __contains__(self, name: object) -> bool:
        try:
            return str(parse(str(name))) in self.scores
        except HashbenchError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}: {score.value:.4f}" for name, score in self.scores.items())
        return f"Evaluation({numbers}; curves: {', '.join(self.curves) or 'none'})"


def evaluate(
    query_codes: Any,
    database_codes: Any,
    query_labels: Any,
    database_labels: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    n_bits: int | None = None,
    ranks: npt.ArrayLike | None = None,
    per_query: bool = False,
    bounds: bool = False,
    chance: bool = False,
) -> Evaluation:
    """Score codes, wherever they come from.

    Parameters
    ----------
    query_codes, database_codes : (n, bits) array-like
        bool, 0/1 or -1/+1; packed codes if `n_bits` is given (see `hashbench.base.codes.as_codes`).
    query_labels, database_labels : (n, classes) array-like of 0 and 1
        Or one class number an item.
    measures : names, presets or measures
        In the grammar of `hashbench.measures.names`.
    n_bits : int, optional
        Number of bits, for packed codes.
    ranks : ascending whole numbers, optional
        Where curves by rank have their points; default `round_ranks`.
    per_query, bounds, chance : bool
        Whether scores carry the values of all queries, the interval over all orders of tied items
        and the value of a random order.

    Examples
    --------
    >>> codes, labels = [[0, 0], [0, 1], [1, 1]], [0, 0, 1]
    >>> evaluate([[0, 0]], codes, [0], labels, ["AP", "P@1"])
    Evaluation(AP: 1.0000, P@1: 1.0000; curves: none)
    """
    ranking = hamming_ranking(query_codes, database_codes, query_labels, database_labels, n_bits)
    return evaluate_ranking(
        ranking, measures, ranks=ranks, per_query=per_query, bounds=bounds, chance=chance
    )


def evaluate_ranking(
    ranking: Ranking,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    ranks: npt.ArrayLike | None = None,
    per_query: bool = False,
    bounds: bool = False,
    chance: bool = False,
) -> Evaluation:
    """Score a ranking that is made once and asked for everything at once; see `evaluate`."""
    wanted = parse_many(measures)
    grid = round_ranks(ranking.n_database) if ranks is None else check_ranks(ranks)
    return summarise(gather(ranking, wanted, grid, bounds, chance), wanted, per_query)


def summarise(gathered: Gathered, measures: Iterable[Measure], per_query: bool) -> Evaluation:
    """Return scores and curves of queries that were gathered, wherever that was."""
    by_order, balls = gathered.by_order, gathered.balls
    scores, curves = [], []
    for measure in measures:
        if not measure.has_ties and measure.is_curve:
            curves.append(_radius_curve(measure, balls[rel_of(measure)], per_query))
        elif not measure.has_ties:
            scores.append(_ball_score(measure, balls[rel_of(measure)], per_query))
        elif measure.is_curve:
            curves.append(_rank_curve(measure, by_order[measure], gathered.grid, per_query))
        else:
            scores.append(_order_score(measure, by_order[measure], per_query))
    return Evaluation(scores, curves)


def _order_score(measure: Measure, values: Mapping[str, Values], per_query: bool) -> Score:
    settled = {
        name: settle_empty(measure, of_queries, values["found"])
        for name, of_queries in values.items()
        if name != "found"
    }
    means = {name: float(_mean(of_queries)) for name, of_queries in settled.items()}
    return Score(
        measure,
        means["value"],
        n_counted=int((~np.isnan(settled["value"])).sum()),
        n_empty=int((values["found"] == 0).sum()),
        bounds=(means["low"], means["high"]) if "low" in means else None,
        chance=means.get("chance"),
        chance_error=_error(settled["value"] - settled["chance"]) if "chance" in means else None,
        per_query=settled["value"] if per_query else None,
    )


def _rank_curve(
    measure: Measure, values: Mapping[str, Values], grid: Ranks, per_query: bool
) -> Curve:
    settled = settle_empty(measure, values["value"], values["found"])
    mean = _mean(settled)
    return Curve(measure, "rank", grid, mean[:, 0], mean[:, 1], settled if per_query else None)


def _ball_score(measure: Measure, ball: Ball, per_query: bool) -> Score:
    values = settle_empty(measure, of_ball(measure, ball), ball.hits[:, -1])
    counted = ~np.isnan(values)
    mean = float(_mean(values))
    if measure["mean"] == "micro" and counted.any():
        mean = float(of_ball(measure, ball.pooled(counted))[0])
    return Score(
        measure,
        mean,
        n_counted=int(counted.sum()),
        n_empty=int((ball.hits[:, -1] == 0).sum()),
        per_query=values if per_query else None,
    )


def _radius_curve(measure: Measure, ball: Ball, per_query: bool) -> Curve:
    settled = settle_empty(measure, ball.curve, ball.hits[:, -1])
    counted = ~np.isnan(settled[:, 0, 0])
    mean = _mean(settled)
    if measure["mean"] == "micro" and counted.any():
        pool = ball.pooled(counted)
        mean = pool.curve[0]
        mean[pool.items[0] == 0, 0] = np.nan
    radii = np.arange(len(mean))
    return Curve(measure, "radius", radii, mean[:, 0], mean[:, 1], settled if per_query else None)


def _error(values: Values) -> float:
    """Return the standard error of the mean over the queries that count; 0 for a single one."""
    counted = values[~np.isnan(values)]
    return float(counted.std(ddof=1) / np.sqrt(len(counted))) if len(counted) > 1 else 0.0


def _mean(values: Values) -> Values:
    """Return the mean over the queries that count; nan if none does."""
    counted = ~np.isnan(values.reshape(len(values), -1)[:, 0])
    if not counted.any():
        return np.full(values.shape[1:], np.nan)
    return np.asarray(values[counted].mean(axis=0))
