"""A benchmark suite for cross-modal hashing: image-text retrieval with short binary codes.

The public names below are imported when first used, so that ``import hashbench`` and the command
line start at once.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "Citation": "hashbench.method",
    "ContactSheet": "hashbench.dataset",
    "Data": "hashbench.dataset",
    "Dataset": "hashbench.dataset",
    "DeclinedError": "hashbench.errors",
    "GivenSplit": "hashbench.dataset",
    "HashbenchError": "hashbench.errors",
    "LastQuery": "hashbench.dataset",
    "LinearMethod": "hashbench.method",
    "Method": "hashbench.method",
    "RandomQuery": "hashbench.dataset",
    "Report": "hashbench.report",
    "Split": "hashbench.dataset",
    "VectorMethod": "hashbench.method",
    "discover": "hashbench.registry",
    "evaluate": "hashbench.measures",
}

__all__ = ["__version__", *sorted(_EXPORTS)]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'hashbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
