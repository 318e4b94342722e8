"""Measure how far rounding moves the scores of built-in methods, and write the page about it.

    python -m research.sensitivity [METHOD ...] [--minutes M]   # resources/sensitivity.csv
    python -m research.sensitivity --write                      # docs/research/rounding.md

:mod:`hashbench.api.sensitivity` measures. A method that was measured with the present code, as many
seeds and all kernels that run here is left out, so that the command can be repeated until it is
done. ``hashbench show`` and tables read the file.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from hashbench.api.sensitivity import SEEDS, architecture, coretypes, sensitivity
from hashbench.plugins import numerical_tolerance
from hashbench.plugins.numerical_tolerance import STEADY, Measured
from hashbench.plugins.registry import discover
from hashbench.plugins.source_hash import source_hash
from research import freshness
from research.markdown_text import number, table

PAGE = freshness.ROOT / "docs" / "research" / "rounding.md"
TEXT = Path(__file__).with_name("rounding.md.in")

TOGETHER = 5  # methods that share processes, whose start takes as long as a fit

#: What amplifies rounding, as we read the steps of methods. Not a measurement.
REASONS = {
    "acq": "signs of values near zero while the rotation is sought",
    "alech": "signs of values near zero",
    "cca": "signs of values near zero",
    "cca-itq": "signs of values near zero while the rotation is sought",
    "ccq": "codewords that are equally near",
    "cmssh": "each bit depends on all earlier ones",
    "cvh": "signs of values near zero",
    "dashi": "as `cca-itq`",
    "dlfh": "a ridge of 1e-6, the original's",
    "edsh": "signs of values near zero, in updates that follow from each other",
    "edsh-dcc": "as `edsh`",
    "fdch": "signs of values near zero",
    "imh": "eigenvalues that lie close together, and signs of values at the median",
    "kdlfh": "as `dlfh`",
    "lssh": "signs of values near zero",
    "opq": "as `seph`",
    "pdh": "support vectors and the signs they give, in turn",
    "pq": "as `seph`",
    "qch": "as `cca-itq`",
    "scratch": "as `cca-itq`",
    "seph": "k-means: rows that are equally near to two centroids",
    "smfh": "an iterative solver that stops by a tolerance",
}


def complete(name: str, known: dict[str, Measured]) -> bool:
    """Say whether a method was measured with the present code, all seeds and all kernels."""
    found = known.get(name)
    kernels = {architecture(), *coretypes()}
    return (
        found is not None
        and found.seeds >= SEEDS
        and kernels <= set(found.compared.split())
        and found.source == source_hash(discover([]).methods[name])
    )


def page(known: dict[str, Measured]) -> str:
    """Return the page without the line about its commit."""
    methods = discover([]).methods
    largest = sorted(known, key=lambda name: (-known[name].largest, name))
    shown = [name for name in largest if known[name].largest >= STEADY]
    lines = [
        [
            f"`{name}`", *(number(getattr(known[name], each), 4)
            for each in ("float64", "float32", "kernels")),
            known[name].compared.replace(" ", ", "), REASONS.get(name, ""),
        ]
        for name in shown
    ]  # fmt: skip
    header = ["method", "float64, 1 in 10^12", "float32, last digit", "other kernels"]
    absent = [name for name, each in methods.items() if name not in known and not each.cls.requires]
    assert not absent, absent
    return TEXT.read_text(encoding="utf-8").format(
        table=table([*header, "kernels compared", "what amplifies it"], lines),
        all=len(known),
        others=len(known) - len(shown),
        steady=number(STEADY, 4),
        median=number(float(np.median([each.largest for each in known.values()])), 4),
    )


def write() -> None:
    """Write the page from the file."""
    known = numerical_tolerance.read(numerical_tolerance.shipped())
    PAGE.write_text(page(known), encoding="utf-8")
    freshness.record(PAGE, {name: each.source for name, each in known.items()})


def main() -> None:
    """Measure all methods that take no network, or those named, or write the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--minutes", type=float, default=np.inf, help="then stop; run it again")
    parser.add_argument("--write", action="store_true", help="write the page, measure nothing")
    arguments = parser.parse_args()
    if arguments.write:
        write()
        return
    path, methods = numerical_tolerance.shipped(), discover([]).methods
    end = time.monotonic() + 60 * arguments.minutes
    known = numerical_tolerance.read(path)
    names = arguments.methods or [n for n, plugin in methods.items() if not plugin.cls.requires]
    names = [name for name in names if not complete(name, known)]
    for part in (names[start : start + TOGETHER] for start in range(0, len(names), TOGETHER)):
        if time.monotonic() > end:
            break
        found = sensitivity([methods[name] for name in part])
        print(found, flush=True)
        known |= found
        numerical_tolerance.write(path, known)  # what is measured is not lost


if __name__ == "__main__":
    main()
