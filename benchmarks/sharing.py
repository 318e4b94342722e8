"""What cells save by sharing statistics of the training rows, and whether their codes are the same.

    python benchmarks/sharing.py [-m scm-s,edsh] [-d synthetic-nuswide] [-b 8,16,24,32] [--tune N]

Runs one study twice, one cell at a time on one thread: as every study runs, and with ``--timing``,
which shares nothing. Prints by method the training seconds spent and charged, the seconds without
sharing and their ratios, and of the whole study the wall time and whether all codes are equal.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from hashbench.base.files import load_arrays


def run(out: Path, options: argparse.Namespace, *flags: str) -> float:
    """Run the study into a folder and return its wall seconds."""
    command = [
        sys.executable, "-m", "hashbench", "run", "-m", options.methods, "-d", options.datasets,
        "-b", options.bits, "-s", "1", "-j", "1", "--threads", str(options.threads), "--quiet",
        "--no-report", "-o", str(out), *(("--tune", options.tune) if options.tune else ()), *flags,
    ]  # fmt: skip
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def same_codes(first: Path, second: Path) -> tuple[int, int]:
    """Return how many cells have equal codes in both folders, of how many."""
    equal, cells = 0, sorted((first / "cells").rglob("codes.npz"))
    for path in cells:
        pair = load_arrays(path), load_arrays(second / path.relative_to(first))
        equal += pair[0].keys() == pair[1].keys() and all(
            np.array_equal(pair[0][name], pair[1][name]) for name in pair[0]
        )
    return equal, len(cells)


def main() -> None:
    """Run both and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-m", "--methods", default="scm-s,cmfh,dashi,dasht,dlfh,edsh")
    parser.add_argument("-d", "--datasets", default="synthetic-nuswide")
    parser.add_argument("-b", "--bits", default="8,16,24,32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tune", default="", help="trials a method")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        shared, cold = Path(name) / "shared", Path(name) / "cold"
        walls = run(shared, options), run(cold, options, "--timing")
        seconds = [
            pd.read_csv(out / "runs.csv").groupby("method", sort=False)[
                ["fit_seconds", "spent_seconds"]
            ].sum()
            for out in (shared, cold)
        ]  # fmt: skip
        table = pd.DataFrame({
            "spent": seconds[0]["spent_seconds"],
            "charged": seconds[0]["fit_seconds"],
            "cold": seconds[1]["spent_seconds"],
        })  # fmt: skip
        table.loc["all"] = table.sum()
        table["spent/charged"] = table["spent"] / table["charged"]
        table["charged/cold"] = table["charged"] / table["cold"]
        print(table.round(3).to_string())
        equal, cells = same_codes(shared, cold)
        print(f"codes equal in {equal} of {cells} cells")
        print(f"whole study: {walls[0]:.1f} s shared, {walls[1]:.1f} s cold")


if __name__ == "__main__":
    main()
