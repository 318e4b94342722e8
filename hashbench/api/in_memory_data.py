"""A split of data that are in memory, preprocessed as a study would."""

from __future__ import annotations

from typing import Any

import numpy as np

from hashbench.data import preprocessing
from hashbench.data.prepare import SplitRequest, check_data, make_split
from hashbench.execution.grid import select_datasets
from hashbench.execution.study import Study
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, Split
from hashbench.plugins.protocol import DEFAULT, Protocol
from hashbench.plugins.registry import discover


class InMemory(Dataset):
    """Data that are there already, as a dataset."""

    protocols = {"given": GivenSplit()}  # noqa: RUF012
    preprocessing = "none"

    def __init__(self, data: Data) -> None:
        self.data = data
        self.name = "data"

    def load(self) -> Data:
        """Return the data."""
        return self.data


def split_of(
    source: Any, protocol: str | None, seed: int
) -> tuple[list[Any], Any, Split, tuple[str, ...]]:
    """Return views, labels, a split and the names of the views."""
    if isinstance(source, Data):
        dataset: Dataset = InMemory(source)
        usual = Protocol("given" if {"train", "query"} <= set(source.given) else DEFAULT)
        steps: Any = "none"
    else:
        registry = discover()
        choice = select_datasets(Study(datasets=(str(source),)), registry)[0]
        dataset, usual, steps = choice.spec.make(registry), choice.protocol, choice.preprocess
    data = dataset.load()
    check_data(data, dataset.name)
    request = SplitRequest(Protocol.parse(protocol) if protocol else usual, seed)
    split = make_split(dataset, data, request)
    everything = np.arange(data.n_rows)
    views = []
    for X, chosen in zip(
        data.views, preprocessing.steps_by_view(steps, data.view_names), strict=True
    ):
        transform = preprocessing.fit(chosen, X, split.train)
        views.append(np.concatenate(list(preprocessing.blocks(transform, X, everything))))
    return views, np.asarray(data.labels, np.uint8), split, tuple(data.view_names)
