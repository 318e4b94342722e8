"""Measure the cost of training on tall data: every method, at several numbers of rows.

    python benchmarks/tall.py [-m edsh,cmfh] [--rows 10000,20000,40000] [--image 1024] [--text 500]
    python benchmarks/tall.py --rows 194808 --image 4096 --text 1000 --cap 6

The data are synthetic float32 arrays on disk. Every fit runs in its own process with one thread and
reads them as memory maps, as in a study. The columns are

- fit: processor seconds of ``fit`` at each number of rows, and how many of the last ones were spent
  on recording the objective;
- G: the last ones without recording, in units of one general product ``X.T @ Z`` of the first view
  and another matrix of its shape. The same process times it twice before the fit and twice after it
  (on at most 8192 rows, and scales the time), because a shared machine changes its speed within a
  minute. The symmetric ``X.T @ X`` takes about half of that;
- power: p in seconds ~ rows^p, fitted to all numbers of rows;
- encode: seconds to encode all rows of both views;
- memory: peak of the anonymous memory (without the maps) during ``fit`` and ``encode`` at the
  largest number of rows, minus that before, in units of both views; its power; and its growth, the
  bytes per further byte of the views.

With ``--project 1e7,1e8,1e9`` it also extrapolates to these numbers of rows by the line
``fixed + rate x rows`` through the measured ones: on one thread, and on a cluster (``--machines``,
``--threads`` each) in which every thread sums products over a part of the rows. The fixed part,
such as the factorisation of a Gram matrix, is then computed once. The sums (two Gram matrices in
float64) cross the network twice at ``--network`` GB/s, which is assumed, not measured.

A method that is declared scalable is marked if the measurement contradicts that: ``time`` if
seconds grow faster than rows^1.15, ``memory`` if memory grows by more than the views.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import psutil

from hashbench.core.paths import cache_folder
from hashbench.core.threads import thread_variables
from hashbench.datasets.synthetic import Generator, make_labels
from hashbench.plugins.method import VectorMethod
from hashbench.plugins.registry import discover
from hashbench.plugins.selection import Selection, select

CLASSES, LABELS_PER_ROW = 21, 2.4  # as in NUS-WIDE
BLOCK = 8192
PAGE = 1024  # 4-byte numbers in a page of memory
UNIT_ROWS = 8192  # G is timed on at most this many rows
POLL_SECONDS = 0.005  # between two readings of a process's memory
MAX_POWER, MAX_GROWTH = 1.15, 1.0  # limits of a scalable method


class Cost(NamedTuple):
    """Cost of one fit in processor seconds and bytes."""

    fit: float
    recording: float
    encode: float
    unit: float
    memory: float


def write_data(folder: Path, rows: int, dims: tuple[int, int]) -> None:
    """Write two views and their labels."""
    rng = np.random.default_rng(0)
    labels = make_labels(rows, CLASSES, LABELS_PER_ROW, rng)
    generator = Generator(CLASSES, *dims, snr=0.05, rng=rng)
    maps = [
        np.lib.format.open_memmap(folder / f"view_{m}.npy", "w+", np.float32, (rows, d))
        for m, d in enumerate(dims)
    ]
    for start in range(0, rows, BLOCK):
        part = slice(start, start + BLOCK)
        for X, block in zip(maps, generator.block(labels[part]), strict=True):
            X[part] = block
    np.save(folder / "labels.npy", labels)


def read_data(folder: Path, rows: int):
    """Return the first rows of views and labels, as memory maps whose pages are loaded."""
    views = [np.load(folder / f"view_{m}.npy", mmap_mode="r")[:rows] for m in range(2)]
    for X in views:
        X[:, ::PAGE].sum()
    return views, np.load(folder / "labels.npy")[:rows]


def general_product(X) -> float:
    """Return the processor seconds of X.T @ Z, Z of X's shape: the mean of two runs.

    A run before them is not counted: it also allocates memory.
    """
    rows, runs = min(len(X), UNIT_ROWS), []
    other = X[:rows][::-1].copy()
    product = np.zeros((X.shape[1], X.shape[1]), X.dtype)
    for _ in range(3):
        start = time.process_time()
        np.matmul(X[:rows].T, other, out=product)
        runs.append(time.process_time() - start)
    return sum(runs[1:]) / 2 * len(X) / rows


def work(folder: Path, choice: Selection, rows: int, bits: int, parent: Connection) -> None:
    """Fit and encode once; send the costs to the parent process."""
    warnings.simplefilter("ignore")
    views, labels = read_data(folder, rows)
    before = general_product(views[0])
    cls = discover().get("methods", choice.name).cls
    method = cls(n_bits=bits, random_state=0, **choice.settings)
    parent.send(before)
    parent.recv()  # the parent has read the memory in use
    clock, start = time.perf_counter(), time.process_time()
    method.fit(views, labels)
    fit, clock = time.process_time() - start, time.perf_counter() - clock
    start = time.process_time()
    for m, X in enumerate(views):
        if isinstance(method, VectorMethod):
            method.vectors(X, m, "database")
        else:
            method.encode(X, m)
    encode = time.process_time() - start
    parent.send("done")  # the parent stops reading the memory
    base = (before + general_product(views[0])) / 2
    # Recording is timed by the wall clock: its share of it is applied to the processor seconds.
    recording = fit * method.recording_seconds_ / clock
    parent.send((fit, recording, encode, base))


def measure(folder: Path, choice: Selection, rows: int, options: argparse.Namespace) -> Cost | str:
    """Return the cost of one fit, or the reason why it failed."""
    bits, cap, memory = options.bits, options.cap, 1e9 * options.memory
    os.environ.update(thread_variables(1))  # read by the new process when it imports numpy
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(folder, choice, rows, bits, there))
    process.start()
    there.close()
    try:
        unit = here.recv()
        before = peak = anonymous(process.pid)
        spent = psutil.Process(process.pid).cpu_times
        start = sum(spent()[:2])
        here.send("go")
        while not here.poll(POLL_SECONDS):
            peak = max(peak, anonymous(process.pid))
            if peak - before > memory:
                return f"over {memory / 1e9:g} GB"
            if sum(spent()[:2]) - start > cap * unit:
                return f"over {cap:g} G"
        here.recv()  # done
        return Cost(*here.recv(), peak - before)
    except EOFError:
        return "failed"
    finally:
        process.kill()
        process.join()


def anonymous(pid: int | None) -> int:
    """Return the bytes of anonymous memory of a process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def power(rows: list[int], values: list[float]) -> float:
    """Return p of values ~ rows^p."""
    if len(rows) < 2 or min(values) <= 0:
        return np.nan
    return float(np.polyfit(np.log(rows), np.log(values), 1)[0])


def line(name: str, costs: list[Cost], rows: list[int], row_bytes: int, scalable: bool) -> str:
    """Return the line of one method."""
    last = costs[-1]
    times, sizes = [cost.fit for cost in costs], [cost.memory for cost in costs]
    steepness, size_steepness = power(rows, times), power(rows, sizes)
    growth = (sizes[-1] - sizes[0]) / (row_bytes * (rows[-1] - rows[0])) if rows[1:] else np.nan
    marks = [] if scalable else ["not scalable"]
    if scalable and steepness > MAX_POWER and last.fit > 10 * last.unit:
        marks.append("time")
    if scalable and growth > MAX_GROWTH:
        marks.append("memory")
    return (
        f"{name:16s} "
        + " ".join(f"{seconds:8.2f}" for seconds in times)
        + f" {last.recording:7.2f} {(last.fit - last.recording) / last.unit:7.2f}"
        + f" {known(steepness)} "
        + f"{last.encode:7.2f} {last.memory / (row_bytes * rows[-1]):7.2f} {known(size_steepness)} "
        + f"{known(growth)}  {', '.join(marks)}"
    ).rstrip()


def projection(
    name: str, costs: list[Cost], rows: list[int], wanted: list[float], options: argparse.Namespace
) -> str:
    """Return the line of a method with times extrapolated to other numbers of rows."""
    rate, fixed = np.polyfit(rows, [cost.fit for cost in costs], 1)
    fixed, threads = max(fixed, 0.0), options.machines * options.threads
    network = 2 * 8 * (options.image**2 + options.text**2) / (1e9 * options.network)
    cells = [
        f"{span(fixed + rate * n):>8s} {span(fixed + network + rate * n / threads):>8s}"
        for n in wanted
    ]
    return f"{name:16s} {fixed:8.2f} {1e6 * rate:8.1f} " + " ".join(cells)


def span(seconds: float) -> str:
    """Return seconds in days, hours, minutes or seconds."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


def known(value: float) -> str:
    """Return a formatted number, or a dash for NaN."""
    return f"{'-':>6s}" if np.isnan(value) else f"{value:6.2f}"


def print_head(rows: list[int]) -> None:
    """Print the header."""
    counts = " ".join(f"{n:8d}" for n in rows)
    print(f"{'':16s} {'fit'.rjust(len(counts))} {'of it':>7s} {'':14s} {'':7s} {'memory':>7s}")
    print(
        f"{'method':16s} {counts} {'record':>7s} {'G':>7s} {'power':>6s} {'encode':>7s} "
        f"{'/ views':>7s} {'power':>6s} {'growth':>6s}"
    )


def main() -> None:
    """Measure every method and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-m", "--methods", default="all")
    parser.add_argument("--rows", default="10000,20000,40000")
    parser.add_argument("--image", type=int, default=1024, help="columns of the first view")
    parser.add_argument("--text", type=int, default=500, help="columns of the second view")
    parser.add_argument("--bits", type=int, default=16)
    parser.add_argument("--cap", type=float, default=1000, help="G that a fit may take at most")
    parser.add_argument("--memory", type=float, default=4, help="GB of a fit at most")
    parser.add_argument("--project", default="", help="numbers of rows, such as 1e7,1e8,1e9")
    parser.add_argument("--machines", type=int, default=100, help="of the cluster projected to")
    parser.add_argument("--threads", type=int, default=16, help="of each of its machines")
    parser.add_argument("--network", type=float, default=1.0, help="GB/s between them")
    options = parser.parse_args()
    wanted = [float(n) for n in options.project.split(",") if n]
    rows = sorted(int(n) for n in options.rows.split(","))
    row_bytes = 4 * (options.image + options.text)
    methods = {name: plugin.cls for name, plugin in discover().of("methods").items()}
    parameters = {name: cls.defaults() for name, cls in methods.items()}
    print(
        f"{options.image} + {options.text} columns in float32, {options.bits} bits, "
        f"1 thread; views of {rows[-1]} rows: "
        f"{row_bytes * rows[-1] / 1e6:.0f} MB"
    )
    print_head(rows)
    cache_folder().mkdir(parents=True, exist_ok=True)
    projections = []
    with TemporaryDirectory(dir=cache_folder()) as name:
        folder = Path(name)
        write_data(folder, rows[-1], (options.image, options.text))
        for choice in select(options.methods, parameters, "method"):
            costs = []
            for n in rows:
                cost = measure(folder, choice, n, options)
                if isinstance(cost, str):
                    print(f"{choice!s:16s} at {n} rows: {cost}", flush=True)
                    break
                costs.append(cost)
            if costs:
                scalable = methods[choice.name].scalable
                print(line(str(choice), costs, rows[: len(costs)], row_bytes, scalable), flush=True)
            if wanted and len(costs) == len(rows) > 1:
                projections.append(projection(str(choice), costs, rows, wanted, options))
    if projections:
        head = " ".join(f"{f'{n:.0e} rows':>17s}" for n in wanted)
        print(f"\none thread, then {options.machines} machines of {options.threads} threads")
        print(f"{'method':16s} {'fixed s':>8s} {'us / row':>8s} {head}")
        print("\n".join(projections))


if __name__ == "__main__":
    main()
