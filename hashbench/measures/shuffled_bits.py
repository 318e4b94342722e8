"""The error of scores that all queries share, because they share the hash functions of their view.

If the bits of one view say nothing about those of the other, nothing changes on average when the
bits of all queries are permuted and flipped alike. The score then varies as it does from one random
hash function to the next: with one dominant direction in the features, all queries gain together or
lose together. Errors over queries do not show this.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hashbench.measures.grammar import Measure
from hashbench.measures.query_values import compute
from hashbench.measures.ranked_items import Ranks
from hashbench.measures.rankings import Ranking

SHUFFLES = 16

#: With fewer bits a permutation often leaves most of them in place, and good codes stay good.
FEWEST_BITS = 8

#: More queries than this are not needed: what they share does not become smaller by their number.
QUERIES = 64


def shared_errors(
    ranking: Ranking, measures: Sequence[Measure], grid: Ranks, left_out: npt.NDArray[np.bool_]
) -> dict[Measure, float]:
    """Return the root mean square distance from chance over random permutations and flips.

    It includes the sampling error of up to 64 queries, so that it is rather too large. Nothing is
    returned for codes of fewer than 8 bits, or without queries.
    """
    if ranking.width < FEWEST_BITS or left_out.all():
        return {}
    generator = np.random.default_rng(0)
    chosen = generator.permutation(np.flatnonzero(~left_out))[:QUERIES]
    shuffled = ranking.shuffled(chosen, SHUFFLES, generator)
    values = compute(shuffled, measures, grid, bounds=False, chance=True)
    errors = {}
    for measure in measures:
        found = values.of_ranks[measure]
        distances = (found["value"] - found["chance"]).reshape(SHUFFLES, -1)
        counted = distances[:, ~np.isnan(distances).any(axis=0)]
        means = counted.mean(axis=1) if counted.size else np.zeros(1)
        errors[measure] = float(np.sqrt((means**2).mean()))
    return errors
