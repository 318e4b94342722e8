"""How long plan, status, resume and report of a study with many cells take.

    python benchmarks/many_cells.py [--cells 20000] [--report-cells 1000]

The study has 20 settings of a method, 10 code lengths and as many seeds as give the number of
cells, on data of 200 rows. This script writes all cells but two with random codes, because only
what the harness does is measured. Then these commands are timed, each in a process of its own:

- ``run --plan`` of an empty folder;
- ``status`` of the folder;
- ``run``, until the first of the two missing cells starts (its end, with the scores of all cells
  and their tables, is printed, too);
- ``report`` of a study with fewer cells, with figures as SVG: once after the run, which has scored
  the cells.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hashbench.core.codes import pack
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.plan import FILE, Plan
from hashbench.execution.run_record import RunRecord
from hashbench.execution.store import Store

SETTINGS, BITS = 20, range(8, 88, 8)
METHODS = ",".join(f"edsh[lam={n}]" for n in range(1, SETTINGS + 1))
HASHBENCH = [sys.executable, "-m", "hashbench"]


def study(cells: int) -> list[str]:
    """Return the flags of the study."""
    seeds = str(max(1, cells // (SETTINGS * len(BITS))))
    lengths = ",".join(map(str, BITS))
    return ["-m", METHODS, "-d", "synthetic[rows=200]", "-b", lengths, "-s", seeds]


def write_plan(flags: Sequence[str], out: Path) -> None:
    """Start the study and end it when its plan is there."""
    with subprocess.Popen([*HASHBENCH, "run", *flags, "-o", str(out), "--quiet"]) as process:
        while not (out / FILE).exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)


def write_cells(out: Path, missing: int) -> int:
    """Write random codes for all cells but the last ones; return how many there are."""
    plan, generator = Plan.read(out), np.random.default_rng(0)
    record = RunRecord(
        "done", seconds={"fit": 0.1, "encode": 0.01, "wall": 0.2}, threads=1, alone=False,
        learned=False, hamming=True, peak_memory=10**8, resident_at_start=9 * 10**7,
    )  # fmt: skip
    with Store(out) as store, tempfile.TemporaryDirectory(dir=out) as place:
        for cell in plan.cells[: len(plan.cells) - missing]:
            split = store.split(cell.split)
            query, database = (
                tuple(pack(generator.random((len(rows), cell.bits)) < 0.5) for _ in range(2))
                for rows in (split.query, split.database)
            )
            CellCodes(query, database, n_bits=cell.bits).save(Path(place) / "codes.npz")
            store.put(cell, record, Path(place))
    return len(plan.cells)


def timed(words: Sequence[str], until: str = "") -> str:
    """Run a command; return its seconds, those until it prints something, and its memory."""
    before = processor_seconds()
    start, there = time.perf_counter(), None
    command = [*HASHBENCH, *words]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if until and until in line and there is None:
                there = time.perf_counter() - start
    seconds, busy = time.perf_counter() - start, processor_seconds() - before
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    first = "" if there is None else f"first cell after {there:.1f} s, "
    return f"{first}{seconds:.1f} s, {busy:.1f} s of the processor"


def processor_seconds() -> float:
    """Return the processor's seconds of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Write the studies, time the commands and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=20_000)
    parser.add_argument("--report-cells", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="where the studies are written")
    arguments = parser.parse_args()
    os.environ["HASHBENCH_REPORT"] = "0"
    with contextlib.ExitStack() as stack:
        folder = arguments.folder
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        out, small = folder / "many", folder / "report"
        flags = study(arguments.cells)
        print("plan:", timed(["run", *flags, "-o", str(out), "--plan"]), flush=True)
        write_plan(flags, out)
        print(f"{write_cells(out, missing=2)} cells, two of them missing", flush=True)
        print("status:", timed(["status", str(out)]), flush=True)
        resumed = ["run", *flags, "-o", str(out), "--verbose", "-j", "2"]
        print("resume:", timed(resumed, until=" started "), flush=True)
        print("run again:", timed(resumed), flush=True)
        flags = study(arguments.report_cells)
        write_plan(flags, small)
        print(f"{write_cells(small, missing=0)} cells", flush=True)
        print("scores:", timed(["run", *flags, "-o", str(small), "--quiet"]), flush=True)
        report = ["report", str(small), "--format", "svg"]
        print("report:", timed(report), flush=True)


if __name__ == "__main__":
    main()
