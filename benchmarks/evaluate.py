"""How fast the evaluator is, beside what people use, on the same codes in one run.

    python benchmarks/evaluate.py [--queries 1968] [--database 194808] [--bits 16,32,64,128]

At the size of NUS-WIDE it times, with two threads each:

- the counting pass alone (everything but ``ties=index`` follows from it);
- the index pass, for the first 100 ranks and for the whole ranking;
- all of AP, AP@100 with both orders of ties, the curves by rank and the curves by radius together,
  from packed codes and, once more, from unpacked ones;
- the per-query numpy argsort that is copied from paper to paper, for a single mAP;
- faiss IndexBinaryFlat, for the 100 nearest items alone.

The contestants take turns, and the best of their turns counts for each. On a busy machine the
seconds of the processor, summed over threads, say more than those on the clock.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

THREADS = 2
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = str(THREADS)  # read when numpy and numba are imported

import numpy as np  # noqa: E402

from hashbench.core.codes import pack  # noqa: E402
from hashbench.measures import HammingRanking, evaluate, evaluate_ranking, label_words  # noqa: E402

MEASURES = (
    "AP",
    "AP(norm=retrieved)@100",
    "AP(norm=retrieved,ties=index)@100",
    "PR",
    "PR(by=radius)",
    "PR(by=radius,mean=micro)",
)
N_CLASSES = 21


def make_case(n_queries: int, n_database: int, bits: int):
    """Return labels and codes that follow them: each bit a noisy linear function of the labels."""
    generator = np.random.default_rng(0)
    n = n_queries + n_database
    frequency = 0.3 / np.arange(1, N_CLASSES + 1) ** 0.7
    labels = generator.random((n, N_CLASSES)) < frequency
    labels[np.arange(n), generator.integers(0, N_CLASSES, n)] = True
    directions = generator.normal(size=(N_CLASSES, bits))
    values = (labels - labels.mean(axis=0)) @ directions + 2 * generator.normal(size=(n, bits))
    codes = values >= 0
    return codes[:n_queries], codes[n_queries:], labels[:n_queries], labels[n_queries:]


def argsort_map(query, database, query_labels, database_labels) -> float:
    """Return mAP the common way: for each query a product, an argsort and a mean.

    Takes codes in -1/+1 and labels in 0/1, all in floating point, as that way has them.
    """
    total = 0.0
    for code, label in zip(query, query_labels, strict=True):
        relevant = (label @ database_labels.T > 0).astype(np.float32)
        n_relevant = int(relevant.sum())
        if n_relevant == 0:
            continue
        distances = 0.5 * (database.shape[1] - code @ database.T)
        relevant = relevant[np.argsort(distances)]
        ranks = np.flatnonzero(relevant == 1) + 1.0
        total += np.mean(np.linspace(1, n_relevant, n_relevant) / ranks)
    return total / len(query)


def peak_extra_bytes(n_queries: int, n_database: int, bits: int) -> int | None:
    """Return by how much memory rises at most during an evaluation, where the system says.

    Meant for a process of its own, in which nothing of that size was in memory before.
    """
    case = make_case(n_queries, n_database, bits)
    words, labels = [pack(codes) for codes in case[:2]], label_words(*case[2:])
    del case
    few = [part[:9] for part in (*words, *labels)]
    evaluate_ranking(HammingRanking(few[0], few[1], bits, few[2], few[3]), MEASURES)  # compiles
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    try:
        reset.write_text("5")  # the high-water mark falls to what is in use now
        before = _kilobytes(status, "VmRSS")
        evaluate_ranking(HammingRanking(words[0], words[1], bits, *labels), MEASURES)
        return 1024 * (_kilobytes(status, "VmHWM") - before)
    except OSError:
        return None


def _kilobytes(status: Path, field: str) -> int:
    line = next(line for line in status.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1])


class Best(NamedTuple):
    """The best of some turns: seconds on the clock, and of the processor (all threads)."""

    clock: float = np.inf
    processor: float = np.inf


def take_turns(contestants: dict[str, tuple[int, Callable[[], object]]]) -> dict[str, Best]:
    """Return the best times of each contestant; each has its own number of turns."""
    best = dict.fromkeys(contestants, Best())
    for turn in range(max(turns for turns, _ in contestants.values())):
        for name, (turns, run) in contestants.items():
            if turn < turns:
                start = time.perf_counter(), time.process_time()
                run()
                took = time.perf_counter() - start[0], time.process_time() - start[1]
                best[name] = Best(*map(min, best[name], took))
    return best


def contest(n_queries: int, n_database: int, bits: int, turns: int, slow_turns: int) -> bool:
    """Print one code length; return whether the evaluator is as fast as it should be."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    case = make_case(n_queries, n_database, bits)
    words, labels = [pack(codes) for codes in case[:2]], label_words(*case[2:])
    signs = [np.where(codes, 1.0, -1.0) for codes in case[:2]]
    numbers = [part.astype(np.float64) for part in case[2:]]
    index = faiss.IndexBinaryFlat(bits)
    index.add(np.packbits(case[1], axis=1))
    packed_queries = np.packbits(case[0], axis=1)

    def ranking() -> HammingRanking:
        return HammingRanking(words[0], words[1], bits, *labels)

    counted = ranking()
    counted.distance_counts(1)

    def in_order(depth: int) -> None:
        for _ in counted.blocks({1: depth}):
            pass

    found: list[float] = []
    contestants = {
        "counting pass": (turns, lambda: ranking().distance_counts(1)),
        "index pass, 100 ranks": (turns, lambda: in_order(100)),
        "index pass, all ranks": (turns, lambda: in_order(n_database)),
        "all measures, packed codes": (turns, lambda: evaluate_ranking(ranking(), MEASURES)),
        "all measures, unpacked codes": (turns, lambda: evaluate(*case, MEASURES)),
        "AP(ties=index), all ranks": (turns, lambda: evaluate_ranking(ranking(), "seph")),
        "faiss, 100 nearest": (turns, lambda: index.search(packed_queries, 100)),
        "argsort, one mAP": (slow_turns, lambda: found.append(argsort_map(*signs, *numbers))),
    }
    for name in list(contestants)[:-2]:
        contestants[name][1]()  # compiles, or loads what was compiled
    best = take_turns(contestants)
    together = best["all measures, packed codes"].clock
    # what is freed goes back to the system at once, else it would hide what is taken anew
    os.environ |= {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        extra = pool.apply(peak_extra_bytes, (n_queries, n_database, bits))
    print(f"\n{f'{bits} bits':30s}   seconds  processor  pairs/second  times the evaluator")
    for name, (clock, processor) in best.items():
        if clock == np.inf:
            continue  # it had no turn
        rate = n_queries * n_database / clock
        print(
            f"  {name:28s} {clock:9.3f}  {processor:9.3f}  {rate:12.3g}  {clock / together:12.2f}"
        )
    print("  peak extra memory: " + ("unknown here" if extra is None else f"{extra / 1e6:.1f} MB"))
    ours = evaluate_ranking(ranking(), "AP(empty=zero)", bounds=True).scores["AP(empty=zero)"]
    low, high = ours.bounds or (0.0, 1.0)
    argsort = f"; argsort's {found[0]:.4f}" if found else ""
    print(f"  mAP: {ours.value:.4f}, between {low:.4f} and {high:.4f}{argsort}")
    assert not found or low <= found[0] <= high, "the two do not compute the same thing"
    unpacked = best["all measures, unpacked codes"].clock
    good = best["argsort, one mAP"].clock >= 50 * unpacked and (extra is None or extra < 200e6)
    return good and (bits > 64 or best["faiss, 100 nearest"].clock >= together)


def main() -> None:
    """Run the contest for every code length."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1968)
    parser.add_argument("--database", type=int, default=194808)
    parser.add_argument("--bits", default="16,32,64,128")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument(
        "--slow-turns", type=int, default=1, help="turns of the argsort way; 0 leaves it out"
    )
    options = parser.parse_args()
    print(
        f"{options.queries} queries x {options.database} items x {N_CLASSES} labels, "
        f"{THREADS} threads, best of {options.turns} turns (argsort: {options.slow_turns})"
    )
    lengths = [int(bits) for bits in options.bits.split(",")]
    good = [
        contest(options.queries, options.database, bits, options.turns, options.slow_turns)
        for bits in lengths
    ]
    argsort = "at least 50 times as fast as argsort, " if options.slow_turns else ""
    print(
        f"\n{argsort}no slower than faiss up to 64 bits, below 200 MB: "
        + ", ".join(f"{b}: {'yes' if g else 'NO'}" for b, g in zip(lengths, good, strict=True))
    )


if __name__ == "__main__":
    main()
