"""What a report is: a table or figure derived from the results of a study."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from hashbench.parameters import Parametrised

if TYPE_CHECKING:
    import pandas as pd


class Report(Parametrised, ABC):
    """A report plugin: ``data`` computes, ``draw`` shows.

    ``data`` returns a tidy table that can be tested and downloaded; drawing reads that table and
    nothing else.
    """

    name: ClassVar[str]  #: what the user types
    title: ClassVar[str] = ""  #: its heading; the name if empty

    @abstractmethod
    def data(self, results: Any) -> pd.DataFrame:
        """Return the numbers, tidy: a row a value."""

    @abstractmethod
    def draw(self, data: pd.DataFrame) -> Any:
        """Return a figure or a text made of ``data``."""
