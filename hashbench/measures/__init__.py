"""The evaluator: every variant of every measure by name, exact where items are tied.

`grammar` and `presets` need no import of numpy; modules that compute are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import Any

from hashbench.measures.grammar import (
    DEFAULT_MEASURES,
    MANY_LABELS,
    MULTILABEL_MEASURES,
    PAIR_MEASURES,
    CatalogueEntry,
    Measure,
    catalogue,
    parse,
    parse_many,
)

_COMPUTING = {
    "CodeStatistics": "bit_statistics",
    "code_statistics": "bit_statistics",
    "Curve": "evaluation",
    "Evaluation": "evaluation",
    "Score": "evaluation",
    "evaluate": "evaluation",
    "evaluate_ranking": "evaluation",
    "HammingRanking": "rankings",
    "hamming_ranking": "rankings",
    "ScoreRanking": "inner_product",
    "score_ranking": "inner_product",
    "label_words": "labels",
}

__all__ = [
    "DEFAULT_MEASURES",
    "MANY_LABELS",
    "MULTILABEL_MEASURES",
    "PAIR_MEASURES",
    "CatalogueEntry",
    "Measure",
    "catalogue",
    "parse",
    "parse_many",
    *_COMPUTING,
]


def __getattr__(name: str) -> Any:
    if name in _COMPUTING:
        return getattr(importlib.import_module(f"{__name__}.{_COMPUTING[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
