"""Why some of our scores are not those of the authors' code: the reasons, row by row.

A reason excuses nothing by itself. Where it says that the original does something else, it names
the parameters that make ours do the same, and ``tools/fidelity.py`` looks again with those; where
it blames chance, it looks again over more seeds. What comes out is in ``docs/fidelity.csv``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd


@dataclass(frozen=True, eq=False)
class Reason:
    """Why a comparison does not hold.

    Attributes
    ----------
    text : str
    original : mapping
        Parameters with which ours does what the original does; empty: the defaults do.
    seeds : int
        How many the second look takes.
    """

    text: str
    original: Mapping[str, Any] = field(default_factory=dict)
    seeds: int = 20


BEYOND = (
    "Bits beyond the rank of Wiki's text, which is 9. The original's are rounding noise, ours are "
)
NOISE = Reason(
    BEYOND + "constant, and score higher. Once more with `noise_bits`, which draws random "
    "directions for them: one draw of noise against many.",
    {"noise_bits": True},
)
ROTATED_NOISE = Reason(
    BEYOND + "rotations of the nine real directions, and score higher. Once more with "
    "`noise_bits`, which lets noise of the images' side into the rotation.",
    {"noise_bits": True},
)
ONE_RUN = Reason(
    "The authors fix LSSH's random state: the reference is a single run and the tolerance a bare "
    "0.01, but ours differ by more than that from run to run. Once more over twelve seeds.",
    seeds=12,
)
UNFINISHED = Reason(
    "Kernel logistic regressions are solved to their optimum here, and score higher; the original "
    "stops them after 500 steps. Once more with `regression_steps=500`.",
    {"regression_steps": 500},
    seeds=3,
)
MEDIANS = Reason(
    "The original thresholds queries at the medians of the query batch; here the training rows' "
    "medians are used, so that a single query can be encoded. Once more with `batch_medians`.",
    {"batch_medians": True},
    seeds=1,
)
CHANCE = Reason("Chance of the seeds: once more over 20 of them.")
UNKNOWN = Reason("No reason was found; once more over 20 seeds.")

TASKS = ["image->text", "text->image"]
NO_ROTATION = ["cca", "cvh", "cvh[variant=released]", "scm-o"]
ROTATION = ["cca-itq", "cca-itq[rotation_view=0]", "cca-itq[rotation_view=1]"]
RELEASED_IMH = "imh[batch_thresholds=true,beta=1,lam=1,neighbours=1,skip=0]"

#: Rows that are not expected to agree, and why. They stay in the table and are marked there.
EXPLAINED: list[tuple[Mapping[str, Any], Reason]] = [
    ({"dataset": ["wiki"], "method": NO_ROTATION, "bits": [16, 24, 32, 64]}, NOISE),
    ({"dataset": ["wiki"], "method": ["scm-s"], "bits": [64]}, NOISE),
    ({"dataset": ["wiki"], "method": ROTATION, "bits": [24, 32, 64]}, ROTATED_NOISE),
    ({"method": ["lssh"], "seeds": [1]}, ONE_RUN),
    ({"method": ["seph"], "task": ["text->image"], "database": ["encoded"]}, UNFINISHED),
    ({"dataset": ["uci-digits"], "method": ["imh"], "bits": [8], "task": ["text->image"]}, MEDIANS),
    (
        {"dataset": ["uci-digits"], "method": ["ccq"], "bits": [32], "database": ["learned"]},
        UNKNOWN,
    ),
    ({"dataset": ["wiki"], "method": [RELEASED_IMH], "bits": [64], "task": TASKS[1:]}, UNKNOWN),
    *(
        (dict(zip(("dataset", "method", "bits", "task", "database"), row, strict=True)), CHANCE)
        for row in (
            (["wiki"], ["dlfh"], [16], ["text->image"], ["encoded"]),
            (["wiki"], ["dlfh[centred=true]"], [16], ["text->image"], ["learned"]),
            (["wiki"], ["fcmh"], [8], ["text->image"], ["learned"]),
            (["wiki"], ["fddh"], [24], ["image->text"], ["encoded"]),
            (["wiki"], ["fddh"], [24], ["image->text"], ["learned"]),
            (["wiki"], ["fsh"], [24], ["text->image"], ["learned"]),
            (["uci-digits"], ["fsh"], [64], ["text->image"], ["encoded"]),
            (["wiki"], ["kdlfh"], [32], ["text->image"], ["encoded"]),
            (["wiki"], ["lcmfh"], [24], ["text->image"], ["encoded"]),
            (["wiki"], ["lcmfh"], [32], ["text->image"], ["learned"]),
            (["wiki"], ["lcmfh[batch_thresholds=true]"], [24], ["text->image"], ["encoded"]),
            (["wiki"], ["lcmfh[batch_thresholds=true]"], [32], TASKS, ["learned"]),
            (["wiki"], ["scratch"], [8], ["text->image"], ["learned"]),
            (["wiki"], ["seph"], [32], ["image->text"], ["fused"]),
            (["wiki"], ["seph"], [32], ["image->text"], ["learned"]),
        )
    ),
]


def matches(where: Mapping[str, Any], row: pd.Series) -> bool:
    """Is this comparison one of those that a reason is for?"""
    return all(row[key] in allowed for key, allowed in where.items())


def reason(row: pd.Series) -> Reason | None:
    """Return why a comparison is expected not to hold, or None where it should."""
    return next((why for where, why in EXPLAINED if matches(where, row)), None)
