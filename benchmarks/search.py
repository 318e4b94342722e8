"""Queries per second of processor time in a million items, by the bytes that an item takes.

    pip install -e '.[faiss]'
    python benchmarks/search.py [--items 1000000] [--queries 200] [--csv FILE]

Each index returns the 100 nearest items. Codes have 2, 4, 8 and 16 bytes:

- Hamming scan: the distances to all codes with numpy, and the nearest of them;
- faiss IndexBinaryFlat: the same in compiled code;
- faiss IndexPQ: product quantisation, real queries against tables of distances;
- floats: faiss IndexFlatIP (exact), and a graph (IndexHNSWFlat, inner product).

Vectors are 80 numbers, as those of ``real-valued`` on ``coco``: unit rows around the means of 1,000
clusters. Codes are the signs of random projections of them. "Recall" is the share of the 100
nearest items by exact inner product that are among the 100 found. It says what an index loses on
vectors that follow no labels; `hashbench report OUT bytes` has the scores of methods. There is one
thread, and the best of three times of the processor counts, so that other work on the machine
matters less.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # read when numpy and faiss are imported

import faiss  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

from hashbench.core.codes import pack  # noqa: E402

NEAREST = 100
CODE_BYTES = (2, 4, 8, 16)
COLUMNS, CLUSTERS, SPREAD = 80, 1000, 1.0
TRAINING_ROWS = 50_000  # for the codebooks of product quantisation
LINKS, BUILD_WIDTH, SEARCH_WIDTH = 16, 40, 128  # HNSW: M, efConstruction, efSearch

Search = Callable[[], np.ndarray]


def unit_rows(count: int, generator: np.random.Generator, means: np.ndarray) -> np.ndarray:
    """Return unit rows around randomly chosen means."""
    rows = means[generator.integers(len(means), size=count)]
    rows = rows + SPREAD * generator.standard_normal(rows.shape, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def hamming_scan(queries: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the nearest codes of every query by Hamming distance, with numpy."""
    found = np.empty((len(queries), NEAREST), dtype=np.int64)
    for row, query in enumerate(queries):
        distances = np.bitwise_count(codes ^ query).sum(axis=1, dtype=np.uint8)
        nearest = np.argpartition(distances, NEAREST)[:NEAREST]
        found[row] = nearest[np.argsort(distances[nearest], kind="stable")]
    return found


def binary_indexes(
    size: int, items: np.ndarray, queries: np.ndarray, generator: np.random.Generator
) -> dict[str, Search]:
    """Return searches by Hamming distance of the signs of random projections."""
    projection = generator.standard_normal((COLUMNS, 8 * size), dtype=np.float32)
    codes, asked = (pack(each @ projection > 0) for each in (items, queries))
    index = faiss.IndexBinaryFlat(8 * size)
    as_bytes, asked_bytes = (
        np.ascontiguousarray(each.view(np.uint8)[:, :size]) for each in (codes, asked)
    )
    index.add(as_bytes)
    words = {2: np.uint16, 4: np.uint32}.get(size, np.uint64)
    own, own_asked = as_bytes.view(words), asked_bytes.view(words)
    return {
        "Hamming scan, numpy": lambda: hamming_scan(own_asked, own),
        "Hamming scan, faiss IndexBinaryFlat": lambda: index.search(asked_bytes, NEAREST)[1],
    }


def product_quantiser(size: int, items: np.ndarray, queries: np.ndarray) -> dict[str, Search]:
    """Return a search with one codebook of 256 words per byte."""
    index = faiss.IndexPQ(COLUMNS, size, 8, faiss.METRIC_INNER_PRODUCT)
    index.train(items[:TRAINING_ROWS])
    index.add(items)
    return {"PQ scan, faiss IndexPQ": lambda: index.search(queries, NEAREST)[1]}


def float_indexes(items: np.ndarray, queries: np.ndarray) -> dict[str, Search]:
    """Return an exact search and one in a graph."""
    flat = faiss.IndexFlatIP(COLUMNS)
    flat.add(items)
    graph = faiss.IndexHNSWFlat(COLUMNS, LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction, graph.hnsw.efSearch = BUILD_WIDTH, SEARCH_WIDTH
    start = time.process_time()
    graph.add(items)
    print(f"building the graph: {time.process_time() - start:.0f} s", flush=True)
    return {
        "floats, faiss IndexFlatIP": lambda: flat.search(queries, NEAREST)[1],
        "floats, faiss IndexHNSWFlat": lambda: graph.search(queries, NEAREST)[1],
    }


def best_time(search: Search, turns: int = 3) -> tuple[float, np.ndarray]:
    """Return the shortest of some times in seconds, and what was found."""
    times = []
    for _ in range(turns):
        start = time.process_time()
        found = search()
        times.append(time.process_time() - start)
    return min(times), found


def main() -> None:
    """Measure every index and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--csv", type=Path, help="write the table to this file, too")
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(1)
    generator = np.random.default_rng(0)
    means = generator.standard_normal((CLUSTERS, COLUMNS), dtype=np.float32)
    items = unit_rows(arguments.items, generator, means)
    queries = unit_rows(arguments.queries, generator, means)

    searches = float_indexes(items, queries)
    exact = searches["floats, faiss IndexFlatIP"]()
    # a graph also stores the links of an item, twice as many on its lowest level
    graph_bytes = 4 * COLUMNS + 4 * 2 * LINKS
    sizes = {name: graph_bytes if "HNSW" in name else 4 * COLUMNS for name in searches}
    rows = []

    def measure(name: str, size: int, search: Search) -> None:
        seconds, found = best_time(search)
        recall = np.mean([np.isin(a, b).mean() for a, b in zip(exact, found, strict=True)])
        rows.append((name, size, round(len(queries) / seconds, 1), round(float(recall), 3)))

    for name, search in searches.items():
        measure(name, sizes[name], search)
    searches.clear()
    for size in CODE_BYTES:
        indexes = binary_indexes(size, items, queries, generator)
        for name, search in (indexes | product_quantiser(size, items, queries)).items():
            measure(name, size, search)
    table = pd.DataFrame(rows, columns=["index", "bytes", "queries_per_second", "recall"])
    table = table.sort_values(["bytes", "index"], ignore_index=True)
    print(table.to_string(index=False))
    if arguments.csv:
        table.to_csv(arguments.csv, index=False)


if __name__ == "__main__":
    main()
