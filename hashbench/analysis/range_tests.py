"""Which methods of a study differ: the one policy that tables, page and `compare` follow.

The unit is the split; a seed draws split and initialisation together. Over several splits all
methods are compared by `tests.range_test`. On one split, initialisations and queries are resampled
together. What the design cannot decide is not tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.analysis import tests
from hashbench.analysis.bootstrap import LEAST_INITIALISATIONS, resampled_range_test
from hashbench.analysis.evidence import Evidence, find_evidence
from hashbench.analysis.summary import BySeed, by_seed, rank_methods
from hashbench.data.splits import SEARCHED, Searched

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results
    from hashbench.execution.store import Stored

SPLITS, INITIALISATIONS = "splits", "initialisations"

#: What the test of a comparison is, in words for captions.
TESTS = {
    SPLITS: "by the studentized range of all methods over random splits, corrected for the rows "
    "that splits share",
    INITIALISATIONS: "by resampling the initialisations and queries of one split, for all methods "
    "together",
}

#: A ranking of a study: task, bits, and what is searched.
Slice = tuple[str, int, Searched]


@dataclass(frozen=True)
class Comparison:
    """All methods of one dataset compared.

    Attributes
    ----------
    methods : those that have every seed; a mean over fewer is another quantity
    scores : (splits, methods)
    test : None where the design cannot decide
    over : "splits", "initialisations", or "" without a test
    seeds : number of seeds
    """

    methods: list[str]
    scores: tests.Floats
    test: tests.RangeTest | None
    over: str
    seeds: int

    @property
    def groups(self) -> dict[str, int]:
        """The group of each method, see `RangeTest.groups`; empty without a test."""
        found = [] if self.test is None else self.test.groups.tolist()
        return dict(zip(self.methods, found, strict=False))


class RangeTests:
    """The tests of a study, computed on demand.

    Parameters
    ----------
    results : None for scores without codes, as those of the archive
    evidence : the splits of the study; found in the results if None
    """

    def __init__(self, results: Results | None, evidence: Evidence | None = None) -> None:
        self.results = results
        if evidence is None:
            assert results is not None  # one of the two is given
            evidence = find_evidence(results)
        self.evidence = evidence

    def compare(
        self, wide: BySeed, dataset: str, slices: Sequence[Slice], measure: str
    ) -> Comparison:
        """Compare all methods of a dataset in one slice, or by their means over several.

        Parameters
        ----------
        wide : mean scores over the slices
        dataset, slices, measure : what they are scores of
        """
        known = np.flatnonzero(~np.isnan(wide.values).any(axis=0))
        methods = [wide.methods[column] for column in known]
        scores = self.evidence.averaged(wide.values[:, known], wide.seeds, dataset)
        seeds, test, over = len(wide.seeds), None, ""
        if len(methods) > 1 and len(scores) >= tests.LEAST_BLOCKS:
            test, over = tests.range_test(scores, self.evidence.overlaps[dataset]), SPLITS
        elif len(methods) > 1 and len(scores) == 1 and seeds >= LEAST_INITIALISATIONS:
            values = self._per_query(methods, wide.seeds, dataset, slices, measure)
            if values is not None:
                test = resampled_range_test(values, np.random.default_rng(0))
                over = INITIALISATIONS
        return Comparison(methods, scores, test, over, seeds)

    @cached_property
    def _stored(self) -> dict[tuple[str, str, int, int], Stored]:
        stored = [] if self.results is None else self.results.done()
        done = ((each.cell, each) for each in stored)
        return {(cell.dataset, cell.label, cell.bits, cell.seed): each for cell, each in done}

    def _per_query(
        self,
        methods: Sequence[str],
        seeds: Sequence[int],
        dataset: str,
        slices: Sequence[Slice],
        measure: str,
    ) -> tests.Floats | None:
        """Return values (seeds, queries, methods), averaged over slices; None if there are none.

        Only those of the study's first measure are stored.
        """
        # a slow import, which listing reports does not need
        from hashbench.analysis.per_query import per_query

        if self.results is None or measure != self.results.main_measure:
            return None
        total = None
        for task, bits, searched in slices:
            cells = [
                self._stored.get((dataset, method, bits, seed))
                for seed in seeds
                for method in methods
            ]
            found = [
                None if cell is None else per_query(self.results, cell, task, searched, measure)
                for cell in cells
            ]
            if any(each is None for each in found):
                return None
            values = np.array(found).reshape(len(seeds), len(methods), -1)
            total = values if total is None else total + values
        if total is None:
            return None
        counted = np.isfinite(total).all(axis=(0, 1))
        return total[:, :, counted].transpose(0, 2, 1) / len(slices) if counted.any() else None


def best_methods(
    scores: pd.DataFrame, keys: Sequence[str], range_tests: RangeTests
) -> pd.DataFrame:
    """Return each method's rank in every comparison, and whether it differs from the best.

    Only methods that have every seed are compared: a mean over fewer seeds is another quantity.

    Parameters
    ----------
    scores : columns method, seed, value and the keys
    keys : the columns that define a comparison: dataset, task, bits, measure, database and codes
    range_tests : the tests of the study

    Returns
    -------
    DataFrame
        the keys, method, blocks (distinct splits), rank (1 is best; nan if not compared), over
        (what the test is over, "" if there is none), critical_difference (nan if there is none),
        not_worse (the best and those that do not differ significantly from it; false for all
        without a test)
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for key, wide in by_seed(scores, keys):
        about = dict(zip(keys, key, strict=True))
        searched = Searched(*(about[each] for each in SEARCHED))
        found = range_tests.compare(
            wide, about["dataset"], [(about["task"], about["bits"], searched)], about["measure"]
        )
        means = dict(zip(wide.methods, wide.values.mean(axis=0).tolist(), strict=True))
        ranks = rank_methods({name: means[name] for name in found.methods}, found.seeds)
        difference = np.nan if found.test is None else found.test.critical_difference
        same = {"blocks": len(found.scores), "over": found.over, "critical_difference": difference}
        groups = found.groups
        for method in wide.methods:
            marks = {"rank": ranks.get(method, np.nan), "not_worse": groups.get(method) == 0}
            rows.append({**about, "method": method, **same, **marks})
    return pd.DataFrame(rows)


def words_without_test(blocks: int, seeds: int) -> str:
    """Return why methods were not compared, and how many splits it would take.

    Examples
    --------
    >>> words_without_test(1, 1)
    'no test: it would take 3 random splits (-s 3), or 3 seeds of initialisation on a fixed one'
    >>> words_without_test(2, 2)
    'no test: it would take 3 random splits'
    """
    words = f"no test: it would take {tests.LEAST_BLOCKS} random splits"
    if blocks == 1 and seeds < LEAST_INITIALISATIONS:
        words += (
            f" (-s {tests.LEAST_BLOCKS}), or {LEAST_INITIALISATIONS} seeds of initialisation on a "
            "fixed one"
        )
    return words
