"""What the originals do differently from our defaults, and which of our parameters does the same.

Where our score differs from theirs because of a choice of ours, a parameter undoes that choice.
``research/fidelity.py`` compares both forms, our default and ours with the original's choice, in
every comparison of the method, whether the default agrees or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hashbench.plugins.selection import parse_item

DEFAULT = "default"

BEYOND = "Bits beyond the rank of the data are rounding noise in the original, "


@dataclass(frozen=True)
class Original:
    """A form of ours that does as the original does.

    Attributes
    ----------
    form : the parameters, as a reader would write them
    text : what the original does, and what our default does instead
    parameters : of the method
    """

    form: str
    text: str
    parameters: Mapping[str, Any] = field(hash=False)


NOISE = Original(
    "noise_bits=true",
    BEYOND + "constant here. With `noise_bits` ours are signs of random directions: one draw of "
    "noise against five.",
    {"noise_bits": True},
)
SCATTER: Mapping[str, Any] = {"ridge_covariance": 0.0, "ridge_scatter": 1e-4}
RIDGE = Original(
    "ridge_covariance=0,ridge_scatter=1e-4",
    "The runs behind the figures add a ridge of 1e-4 to scatter matrices; ours adds it to "
    "covariances, as Gong's program does, which is n - 1 times as much.",
    SCATTER,
)
RIDGE_NOISE = Original(
    "ridge_covariance=0,ridge_scatter=1e-4,noise_bits=true",
    NOISE.text + " With that ridge.",
    {**SCATTER, "noise_bits": True},
)
ROTATED = Original(
    "ridge_covariance=0,ridge_scatter=1e-4,noise_bits=true",
    BEYOND + "and the rotation mixes them into all others; ours rotates the real directions alone. "
    "With that ridge and with `noise_bits`.",
    {**SCATTER, "noise_bits": True},
)
MEDIANS = Original(
    "batch_thresholds=true",
    "The original thresholds queries at the medians of the query batch; ours at those of the "
    "training rows, so that a single query can be encoded.",
    {"batch_thresholds": True},
)

#: By the method's name.
ORIGINALS: dict[str, tuple[Original, ...]] = {
    "cca": (RIDGE, RIDGE_NOISE),
    "cvh": (RIDGE, RIDGE_NOISE),
    "scm-o": (NOISE,),
    "scm-s": (NOISE,),
    "cca-itq": (RIDGE, ROTATED),
    "imh": (MEDIANS,),
}


def originals(typed: str) -> tuple[Original, ...]:
    """Return the forms of a method, as it is typed, that do as its original does.

    One that says already how to threshold has no other form.
    """
    name, (settings,) = parse_item(typed)
    return tuple(each for each in ORIGINALS.get(name, ()) if not {*each.parameters} & {*settings})


def original(typed: str, form: str) -> Original | None:
    """Return one of them by its form; None for our default."""
    return next((each for each in originals(typed) if each.form == form), None)
