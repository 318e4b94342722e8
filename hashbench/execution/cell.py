"""The cell: one method with its parameters, at one code length, on one split, with one seed.

A cell is the unit of work, storage, failure and resumption. Its id is a hash of everything that
determines its outcome, and of nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hashbench.core.records import to_json
from hashbench.plugins.protocol import Protocol
from hashbench.plugins.selection import TUNED, full_name

#: Increased whenever the harness changes in a way that changes outcomes: no stored cell is reused.
PROTOCOL_VERSION = 1


#: How queries are compared with the codes of a database, as a selection says it of any method:
#: by their own codes, or by their real values (Gordo et al. 2014).
DISTANCE = "distance"
DISTANCES = HAMMING, ASYMMETRIC = "hamming", "asymmetric"


@dataclass(frozen=True)
class Cell:
    """Everything that determines an outcome.

    Attributes
    ----------
    dataset : the dataset as tables print it, with the parameters that were set
    fingerprint : a hash of the data
    protocol : how the dataset is split
    split : a hash of the rows of the split
    preprocessing : one name per view
    method : its name
    params : the parameters that differ from their defaults, as tables print them
    parameters : all parameters of the method except n_bits and random_state; and `DISTANCE`, if it
        is asymmetric
    source : a hash of the method's source
    bits, seed : numbers
    tuned : whether parameters and preprocessing were chosen on validation rows
    """

    dataset: str
    fingerprint: str
    protocol: Protocol
    split: str
    preprocessing: tuple[str, ...]
    method: str
    params: str
    parameters: Mapping[str, Any] = field(hash=False)
    source: str
    bits: int
    seed: int
    version: int = PROTOCOL_VERSION
    tuned: bool = False

    @cached_property
    def id(self) -> str:
        """A hash of all fields."""
        text = json.dumps(to_json(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def name(self) -> str:
        """The method, tuned or not: ``edsh``, ``edsh(tuned)``."""
        return f"{self.method}{TUNED}" if self.tuned else self.method

    @property
    def label(self) -> str:
        """The method as tables print it: ``edsh[gamma=1]``."""
        return full_name(self.name, self.params)

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """What identifies a cell in tables, and sorts them."""
        return (self.dataset, self.name, self.params, self.bits, self.seed)

    def __str__(self) -> str:
        return f"{self.label} at {self.bits} bits on {self.dataset}, seed {self.seed}"


def random_state(seed: int) -> int:
    """Return the random state that a seed gives to every method."""
    return int.from_bytes(hashlib.sha256(f"random_state {seed}".encode()).digest()[:4], "little")
