"""Measure how far rounding moves the scores of a method.

Each seed draws two splits of emoji and an initialisation: by the default protocol, and by one that
searches the training rows. A method is fitted on the features as they
are and on features whose entries are changed by a part of themselves no larger than rounding, in
both precisions; and with every kernel that OpenBLAS has for processors up to the present one, which
add in another order. Kernels are chosen when a process starts, so that each has its own.

``python -m hashbench.api.sensitivity`` is that process: see :func:`main`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from hashbench.core.errors import HashbenchError
from hashbench.core.records import to_json
from hashbench.data.prepare import DataSpec, Prepared, load_dataset, prepare_split
from hashbench.data.preprocessing import steps_by_view
from hashbench.data.splits import StoredSplit
from hashbench.execution.cell import random_state
from hashbench.execution.compute_cell import checked, encode
from hashbench.execution.scoring import encoded_scores
from hashbench.plugins.numerical_tolerance import Measured
from hashbench.plugins.registry import Plugin, discover
from hashbench.plugins.source_hash import source_hash

MODULE = "hashbench.api.sensitivity"
BITS = 16
SEEDS = 5

#: The database of the first has rows that were not trained on, that of the second has none.
PROTOCOLS = ("default", "random")

#: Largest relative change of an entry: far below what any measurement means, far above rounding;
#: and half a unit in the last place.
CHANGES = {"float64": 1e-12, "float32": 2.0**-24}

#: Values of OPENBLAS_CORETYPE by machine. Not every processor can run all of them.
CORETYPES = {
    "x86_64": ("Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX", "Cooperlake"),
    "aarch64": ("ARMV8", "NEOVERSEN1", "NEOVERSEV1"),
    "arm64": ("ARMV8", "NEOVERSEN1"),
}
PARTS = ("train", "query", "database")

#: Scores by precision, "changed" if the features were, then by protocol and seed, and by task.
Scores = dict[str, list[list[float]]]


def sensitivity(
    chosen: Sequence[Plugin], seeds: int = SEEDS, plugins: Sequence[Path] = ()
) -> dict[str, Measured]:
    """Measure methods, and return what was found by name.

    Parameters
    ----------
    chosen : the methods
    seeds : how many
    plugins : files that have to be loaded to find them
    """
    names = [plugin.name for plugin in chosen]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for protocol, seed in itertools.product(PROTOCOLS, range(seeds)):
            prepare(folder, protocol, seed)
        here = run(names, folder, "", seeds, plugins)
        others = [
            run(names, folder, coretype, seeds, plugins)
            for coretype in coretypes()
            if coretype != architecture()
        ]
    compared = " ".join(sorted({architecture(), *coretypes()}))
    return {
        plugin.name: Measured(
            **changes(here[plugin.name]),
            kernels=spread([each[plugin.name] for each in (here, *others)]),
            seeds=seeds,
            compared=compared,
            source=source_hash(plugin),
        )
        for plugin in chosen
    }


def changes(scores: Scores) -> dict[str, float]:
    """Return by how much changed features move a score at the most, by precision."""
    return {
        dtype: float(np.abs(np.array(scores[f"{dtype} changed"]) - np.array(scores[dtype])).max())
        for dtype in CHANGES
    }


def spread(runs: Sequence[Scores]) -> float:
    """Return the largest difference of a score between runs with several kernels."""
    same = np.array([[scores[dtype] for dtype in CHANGES] for scores in runs])
    return float((same.max(axis=0) - same.min(axis=0)).max())


def prepare(folder: Path, protocol: str, seed: int) -> None:
    """Store the split of emoji that a protocol and a seed give, as methods see it."""
    registry, out = discover([]), folder / f"{protocol}-{seed}"
    out.mkdir(exist_ok=True)
    spec, request = DataSpec("emoji"), {"protocol": {"name": protocol}, "seed": seed}
    facts = load_dataset(registry, out, out, to_json(spec), [request])
    steps = steps_by_view(spec.make(registry).preprocessing, facts["views"])
    arguments = (to_json(spec), facts["fingerprint"], request, steps, "split")
    prepare_split(registry, out, out, *arguments)


def rows(folder: Path, protocol: str, seed: int) -> tuple[Prepared, StoredSplit]:
    """Return a split that was stored."""
    split = folder / f"{protocol}-{seed}" / "split"
    return Prepared.open(split), StoredSplit.load(split / "split.npz")


def changed(prepared: Prepared, dtype: str, seed: int | None) -> Prepared:
    """Return the rows in a precision, as they are or changed by rounding."""
    rng = np.random.default_rng(seed)
    done: dict[int, Any] = {}

    def change(X: Any) -> Any:
        if id(X) not in done:
            values = np.asarray(X, dtype)
            if seed is not None:
                noise = rng.uniform(-CHANGES[dtype], CHANGES[dtype], values.shape)
                values = (values.astype(np.float64) * (1 + noise)).astype(dtype)
            done[id(X)] = values
        return done[id(X)]

    parts: dict[str, Any] = {part: [change(X) for X in getattr(prepared, part)] for part in PARTS}
    return replace(prepared, **parts)


def score(plugin: Plugin, prepared: Prepared, split: StoredSplit, seed: int) -> list[float]:
    """Return the AP of a method by task."""
    method = plugin.cls(n_bits=BITS, random_state=random_state(seed))
    labels = prepared.train_labels if method.supervised else None
    method.fit(list(prepared.train), labels)
    codes = checked(encode(method, prepared, BITS), prepared)
    return list(encoded_scores(codes, split, "AP").values())


def all_scores(plugin: Plugin, folder: Path, seeds: int, with_changes: bool) -> Scores:
    """Return the scores of a method with the kernels of this process."""
    found: Scores = {}
    for protocol, seed in itertools.product(PROTOCOLS, range(seeds)):
        prepared, split = rows(folder, protocol, seed)
        for dtype in CHANGES:
            for draw, key in ((None, dtype), (seed, f"{dtype} changed")):
                if draw is None or with_changes:
                    values = score(plugin, changed(prepared, dtype, draw), split, seed)
                    found.setdefault(key, []).append(values)
    return found


def run(
    names: Sequence[str], folder: Path, coretype: str, seeds: int, plugins: Sequence[Path]
) -> dict[str, Scores]:
    """Return scores of methods in a process with some kernels; the present ones if empty."""
    out = folder / "scores.json"
    paths = [word for path in plugins for word in ("--plugin", str(path))]
    command = [sys.executable, "-m", MODULE, ",".join(names), str(folder), str(out), str(seeds)]
    done = _start([*command, *paths, *([] if coretype else ["--changes"])], coretype)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        raise HashbenchError(f"{', '.join(names)}, kernels {coretype or architecture()}: {last}")
    found: dict[str, Scores] = json.loads(out.read_text(encoding="utf-8"))
    return found


@cache
def coretypes() -> tuple[str, ...]:
    """Return the kernels of OpenBLAS that run here and that differ from each other."""
    code = f"from {MODULE} import architecture; print(architecture())"
    found = []
    for coretype in CORETYPES.get(platform.machine(), ()):
        done = _start([sys.executable, "-c", code], coretype)
        if done.returncode == 0 and done.stdout.strip() == coretype:
            found.append(coretype)
    return tuple(found)


def architecture() -> str:
    """Return the processor whose kernels OpenBLAS uses in this process, or an empty text."""
    found = {str(pool.get("architecture", "")) for pool in threadpool_info()}
    return min(found - {""}, default="")


def _start(command: Sequence[str], coretype: str) -> subprocess.CompletedProcess[str]:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    chosen = {"OPENBLAS_CORETYPE": coretype} if coretype else {}
    environment = {**os.environ, **threads, **chosen}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def main() -> None:
    """Write the scores of methods with the kernels of this process to a file."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names")
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("seeds", type=int)
    parser.add_argument("--plugin", type=Path, action="append", default=[])
    parser.add_argument("--changes", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    methods = discover(options.plugin).methods
    found = {
        name: all_scores(methods[name], options.folder, options.seeds, options.changes)
        for name in options.names.split(",")
    }
    options.out.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
