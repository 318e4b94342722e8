"""Stores written by hand, so that every number in a report can be worked out on paper."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from hashbench.analysis.results import Results
from hashbench.core.codes import pack
from hashbench.core.io import save_arrays
from hashbench.data.splits import StoredSplit
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.plan import Plan
from hashbench.execution.run_record import RunRecord
from hashbench.execution.store import Store
from hashbench.plugins.dataset import Split
from hashbench.plugins.registry import Registry, discover
from hashbench.render.style import DatasetStyle, MethodStyle, Style


@dataclass
class HandMade:
    """Writes a folder of results cell by cell.

    Two queries (rows 0 and 1) with labels 10 and 01, four database items (rows 2 to 5) with
    labels 10, 10, 01, 01. A cell's codes are given as strings, one an item.
    """

    path: Path
    make_cell: object
    measures: tuple[str, ...] = ("AP",)
    cells: list = field(default_factory=list)
    missing: list = field(default_factory=list)

    def split(self, name="s", train=(2, 3, 4, 5), query=(0, 1), **more):
        rows = Split(train, query, [2, 3, 4, 5])
        with Store(self.path) as store:
            StoredSplit(
                train=rows.train,
                query=rows.query,
                database=rows.database,
                is_seen=rows.is_seen,
                parts=rows.parts,
                query_labels=pack(np.array([[1, 0], [0, 1]], bool)),
                database_labels=pack(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], bool)),
                n_labels=2,
                label_names=("cat", "dog"),
                **more,
            ).save(store.splits / f"{name}.npz")

    def add(
        self,
        queries=("00", "11"),
        database=("00", "01", "10", "11"),
        learned=None,
        history=None,
        status="done",
        reason="",
        record=None,
        **about,
    ):
        cell = self.make_cell(**{"params": "", "parameters": {}, **about, "bits": len(queries[0])})
        if "bits" in about:
            cell = self.make_cell(**{"params": "", "parameters": {}, **about})
        work = self.path / "work-by-hand"
        work.mkdir(parents=True, exist_ok=True)
        if status == "done":
            CellCodes(
                query=(codes(queries),) * 2,
                database=(codes(database),) * 2,
                learned=() if learned is None else (codes(learned),),
                n_bits=len(queries[0]),
            ).save(work / "codes.npz")
            if history is not None:
                save_arrays(
                    work / "history.npz", {name: np.array(v) for name, v in history.items()}
                )
        base = {
            "learned": learned is not None,
            "status": status,
            "reason": reason,
            "seconds": {"fit": 1.0},
            "alone": True,
            "hamming": True,
            "item_bytes": cell.bits / 8,
        }
        with Store(self.path) as store:
            store.put(cell, RunRecord(**{**base, "threads": 1, **(record or {})}), work)
        self.cells.append(cell)
        return cell

    def results(self, registry=None) -> Results:
        if not (self.path / "splits" / "s.npz").exists():
            self.split()
        plan = Plan(self.measures, self.cells, self.missing)
        (self.path / "plan.json").write_text(plan.to_json())
        return Results(self.path, registry or Registry())


def codes(texts):
    return pack(np.array([[letter == "1" for letter in text] for text in texts]))


@pytest.fixture
def hand_made(tmp_path, make_cell):
    return HandMade(tmp_path / "out", make_cell)


@pytest.fixture(scope="session")
def registry():
    return discover()


@dataclass
class Given:
    """Results that consist of given tables: for what only statistics are made of."""

    table: pd.DataFrame
    measures: tuple[str, ...] = ("AP",)
    figure_bits: tuple[int, ...] = (16,)
    cells: tuple = ()

    @property
    def main_measure(self):
        return self.measures[0]

    def scores(self, measures=None):
        return self.table

    def select(self, **_):
        return self

    def done(self):
        """One cell per dataset and seed, on a split of its own, three training rows per query."""
        cells = self.table[["dataset", "seed"]].drop_duplicates().itertuples(index=False)
        return [
            SimpleNamespace(cell=SimpleNamespace(dataset=d, seed=s, split=f"{d} {s}"))
            for d, s in cells
        ]

    def split(self, name):
        query = sum(map(ord, name))  # other queries in each split
        return SimpleNamespace(query=np.array([query]), train=np.arange(3), database=np.arange(3))


@pytest.fixture
def given_scores():
    """Return a function: {(dataset, seed): {method: score}} -> results with those scores."""

    def make(blocks, **about):
        rows = [
            {
                "dataset": dataset, "method": method, "bits": 16, "seed": seed,
                "task": "image->text", "database": "unseen", "codes": "encoded", "measure": "AP",
                "value": value,
                "low": value, "high": value, "chance": 0.1, **about,
            }
            for (dataset, seed), scores in blocks.items()
            for method, value in scores.items()
        ]  # fmt: skip
        return Given(pd.DataFrame(rows))

    return make


def a_look(methods, datasets, **options) -> Style:
    from hashbench.render.colours import COLOURS, DASHES, MARKERS

    return Style(
        {
            name: MethodStyle(
                name,
                COLOURS[i % len(COLOURS)],
                MARKERS[i % len(MARKERS)],
                DASHES[i // len(COLOURS) % len(DASHES)],
            )
            for i, name in enumerate(methods)
        },
        {name: DatasetStyle(name, False, "protocol random") for name in datasets},
        **options,
    )


@pytest.fixture(scope="session")
def make_look():
    return a_look
