"""A benchmark suite for cross-modal hashing: image-text retrieval with short binary codes.

The public names below are imported when first used, so that ``import hashbench`` and the command
line start at once.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "Bounds": "hashbench.plugins.allowed",
    "COUNT": "hashbench.plugins.allowed",
    "COUNT_OR_ZERO": "hashbench.plugins.allowed",
    "Choice": "hashbench.plugins.space",
    "Citation": "hashbench.plugins.method",
    "ContactSheet": "hashbench.plugins.dataset",
    "Data": "hashbench.plugins.dataset",
    "Dataset": "hashbench.plugins.dataset",
    "DeclinedError": "hashbench.core.errors",
    "FRACTION": "hashbench.plugins.allowed",
    "GivenSplit": "hashbench.plugins.dataset",
    "HashbenchError": "hashbench.core.errors",
    "Integer": "hashbench.plugins.space",
    "LastQuery": "hashbench.plugins.dataset",
    "Linear": "hashbench.plugins.space",
    "LinearMethod": "hashbench.plugins.method",
    "Log": "hashbench.plugins.space",
    "Method": "hashbench.plugins.method",
    "NON_NEGATIVE": "hashbench.plugins.allowed",
    "POSITIVE": "hashbench.plugins.allowed",
    "Paper": "hashbench.plugins.method",
    "HalfTrained": "hashbench.plugins.dataset",
    "RandomQuery": "hashbench.plugins.dataset",
    "Report": "hashbench.render.report",
    "Split": "hashbench.plugins.dataset",
    "StudyResults": "hashbench.api.results",
    "TorchMethod": "hashbench.neural.method",
    "TrainingData": "hashbench.plugins.method",
    "VectorMethod": "hashbench.plugins.method",
    "archive": "hashbench.api.archive",
    "discover": "hashbench.plugins.registry",
    "evaluate": "hashbench.measures",
    "explain": "hashbench.api.explain",
    "rank": "hashbench.api.rank",
    "run": "hashbench.api.run",
    "score": "hashbench.api.run",
}

__all__ = ["__version__", *sorted(_EXPORTS)]


#: Public names that are called otherwise where they live.
_RENAMED = {"open": ("hashbench.api.results", "open_results")}

__all__ += sorted(_RENAMED)


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        module, own = _RENAMED[name]
        return getattr(importlib.import_module(module), own)
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'hashbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
