"""The evaluator: any number of measures from one ranking, each found by its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import Words, unpack
from hashbench.core.errors import HashbenchError
from hashbench.measures.grammar import DEFAULT_MEASURES, ByName, Measure, parse, parse_many
from hashbench.measures.query_values import QueryValues, check_ranks, compute, round_ranks
from hashbench.measures.ranked_items import Counts, Ranks, Values, of_radius, radius_curve
from hashbench.measures.rankings import Ranking, hamming_ranking
from hashbench.measures.shuffled_bits import shared_errors


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
        Standard error of the value's distance from chance: the larger one of that over the
        queries that count and of what they share, see `hashbench.measures.shuffled_bits`.
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
        The precision is nan where the pooled queries have no item within the radius.
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
            raise HashbenchError(f"measure {key!r} is a curve; it is in .curves")
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
    pairs: Any = None,
    ranks: npt.ArrayLike | None = None,
    per_query: bool = False,
    bounds: bool = False,
    chance: bool = False,
    left_out: npt.NDArray[np.bool_] | None = None,
) -> Evaluation:
    """Score codes, wherever they come from.

    Parameters
    ----------
    query_codes, database_codes : (n, bits) array-like
        bool, 0/1 or -1/+1; packed codes if `n_bits` is given (see `hashbench.core.codes.as_codes`).
    query_labels, database_labels : (n, classes) array-like of 0 and 1
        Or one class number per item.
    measures : names, presets or measures
        In the grammar of `hashbench.measures.grammar`.
    n_bits : int, optional
        Number of bits, for packed codes.
    pairs : (queries,) or (queries, partners) ints, optional
        Positions of each query's partners in the database, -1 for none; for ``relevant=pair``.
    ranks : ascending whole numbers, optional
        Ranks of the points of curves by rank; default `round_ranks`.
    per_query, bounds, chance : bool
        Whether scores have the values of all queries, the interval over all orders of tied items
        and the value of a random order.
    left_out : (queries,) bool, optional
        Queries that do not count.

    Examples
    --------
    >>> codes, labels = [[0, 0], [0, 1], [1, 1]], [0, 0, 1]
    >>> evaluate([[0, 0]], codes, [0], labels, ["AP", "P@1"])
    Evaluation(AP: 1.0000, P@1: 1.0000; curves: none)
    """
    ranking = hamming_ranking(
        query_codes, database_codes, query_labels, database_labels, n_bits, pairs
    )
    return evaluate_ranking(
        ranking,
        measures,
        ranks=ranks,
        per_query=per_query,
        bounds=bounds,
        chance=chance,
        left_out=left_out,
    )


def evaluate_ranking(
    ranking: Ranking,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    ranks: npt.ArrayLike | None = None,
    per_query: bool = False,
    bounds: bool = False,
    chance: bool = False,
    left_out: npt.NDArray[np.bool_] | None = None,
) -> Evaluation:
    """Compute all measures of one ranking; see `evaluate`."""
    wanted = parse_many(measures)
    grid = round_ranks(ranking.n_database) if ranks is None else check_ranks(ranks)
    values = compute(ranking, wanted, grid, bounds, chance, left_out)
    compared = [each for each, found in values.of_ranks.items() if "chance" in found]
    shared = shared_errors(ranking, compared, grid, values.left_out) if compared else {}
    return summarise(values, wanted, per_query, shared)


def summarise(
    values: QueryValues,
    measures: Iterable[Measure],
    per_query: bool,
    shared: Mapping[Measure, float] = {},
) -> Evaluation:
    """Return scores and curves from the values of all queries, and the errors that they share."""
    scores, curves = [], []
    for measure in measures:
        if not measure.has_ties:
            counts = values.by_distance[measure.relevance]
            if measure.is_curve:
                curves.append(_radius_curve(measure, counts, values.left_out, per_query))
            else:
                scores.append(_radius_score(measure, counts, values.left_out, per_query))
        elif measure.is_curve:
            curves.append(_rank_curve(measure, values, per_query))
        else:
            scores.append(_rank_score(measure, values, per_query, shared.get(measure, 0.0)))
    return Evaluation(scores, curves)


def _rank_score(measure: Measure, values: QueryValues, per_query: bool, shared: float) -> Score:
    found = dict(values.of_ranks[measure])
    n_relevant = found.pop("n_relevant")
    counted = {
        name: treat_empty(measure, of_queries, n_relevant, values.left_out)
        for name, of_queries in found.items()
    }
    by_class = measure["mean"] == "classes"
    weights = class_weights(values.labels, ~np.isnan(counted["value"])) if by_class else None
    average = np.nanmedian if measure["mean"] == "median" else partial(_mean, weights=weights)
    known = ~np.isnan(counted["value"])
    means = {
        name: float(average(of_queries)) if known.any() else np.nan
        for name, of_queries in counted.items()
    }
    return Score(
        measure,
        means["value"],
        n_counted=int((~np.isnan(counted["value"])).sum()),
        n_empty=int((n_relevant[~values.left_out] == 0).sum()),
        bounds=_bounds(means),
        chance=means.get("chance"),
        chance_error=(
            max(_error(counted["value"] - counted["chance"], weights), shared)
            if "chance" in means
            else None
        ),
        per_query=counted["value"] if per_query else None,
    )


def _bounds(means: Mapping[str, float]) -> tuple[float, float] | None:
    """Return the means over the worst and the best orders of tied items, if they were computed."""
    return (means["pessimistic"], means["optimistic"]) if "pessimistic" in means else None


def _rank_curve(measure: Measure, values: QueryValues, per_query: bool) -> Curve:
    found = values.of_ranks[measure]
    each = treat_empty(measure, found["value"], found["n_relevant"], values.left_out)
    mean = _mean(each)
    return Curve(measure, "rank", values.grid, mean[:, 0], mean[:, 1], each if per_query else None)


def _radius_score(
    measure: Measure, counts: Counts, left_out: npt.NDArray[np.bool_], per_query: bool
) -> Score:
    n_relevant = counts[:, :, 1].sum(axis=1)
    values = treat_empty(measure, of_radius(measure, counts), n_relevant, left_out)
    counted = ~np.isnan(values)
    mean = float(_mean(values))
    if measure["mean"] == "micro" and counted.any():
        mean = float(of_radius(measure, counts[counted].sum(axis=0, keepdims=True))[0])
    return Score(
        measure,
        mean,
        n_counted=int(counted.sum()),
        n_empty=int((n_relevant[~left_out] == 0).sum()),
        per_query=values if per_query else None,
    )


def _radius_curve(
    measure: Measure, counts: Counts, left_out: npt.NDArray[np.bool_], per_query: bool
) -> Curve:
    each = treat_empty(measure, radius_curve(counts), counts[:, :, 1].sum(axis=1), left_out)
    counted = ~np.isnan(each[:, 0, 0])
    mean = _mean(each)
    if measure["mean"] == "micro" and counted.any():
        pooled = counts[counted].sum(axis=0, keepdims=True)
        mean = radius_curve(pooled)[0]
        mean[pooled.sum(axis=2).cumsum() == 0, 0] = np.nan
    radii = np.arange(len(mean))
    return Curve(measure, "radius", radii, mean[:, 0], mean[:, 1], each if per_query else None)


def treat_empty(
    measure: Measure,
    values: Values,
    n_relevant: npt.NDArray[Any],
    left_out: npt.NDArray[np.bool_],
) -> Values:
    """Apply the measure's choice for queries without a relevant item.

    Returns
    -------
    The values, with nan for every query that is left out of the mean.
    """
    empty = (n_relevant == 0) & ~left_out
    if measure["empty"] == "error" and empty.any():
        raise HashbenchError(
            f"measure {str(measure)!r}: found {int(empty.sum())} queries without a relevant item "
            f"(the first is query {int(empty.argmax())}); empty=error allows none"
        )
    found = np.array(values, np.float64)
    found[empty] = 0.0 if measure["empty"] == "zero" else np.nan
    found[left_out] = np.nan
    return found


def class_weights(labels: Words, counted: npt.NDArray[np.bool_]) -> Values:
    """Return weights of queries with which every class that has queries weighs the same."""
    has = unpack(labels, 64 * labels.shape[1]) & counted[:, None]
    sizes = has.sum(axis=0)
    weights = (has[:, sizes > 0] / sizes[sizes > 0]).sum(axis=1)
    return np.asarray(weights / max(1, np.count_nonzero(sizes)))


def _error(values: Values, weights: Values | None = None) -> float:
    """Return the standard error of the mean over the queries that count; 0 for a single one."""
    known = ~np.isnan(values)
    counted = values[known]
    if len(counted) < 2:
        return 0.0
    if weights is None:
        return float(counted.std(ddof=1) / np.sqrt(len(counted)))
    distances = counted - _mean(values, weights)
    spread = ((weights[known] * distances) ** 2).sum() * len(counted) / (len(counted) - 1)
    return float(np.sqrt(spread))


def _mean(values: Values, weights: Values | None = None) -> Values:
    """Return the mean over the queries that count; nan if none does.

    Parameters
    ----------
    weights : of the queries, with the sum 1 over those that count; all the same by default
    """
    counted = ~np.isnan(values.reshape(len(values), -1)[:, 0])
    if not counted.any():
        return np.full(values.shape[1:], np.nan)
    if weights is not None:
        return np.asarray(weights[counted] @ values[counted])
    return np.asarray(values[counted].mean(axis=0))
