"""Models of the package sentence-transformers: ``sentence-transformers/all-MiniLM-L6-v2``.

The part behind the slash names a model, which the package downloads, or a folder with one.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.data.features.encoders import network_checksum

INSTALL = "pip install sentence-transformers"


def load(name: str) -> tuple[Any, dict[str, str]]:
    """Return the model and its description."""
    from sentence_transformers import SentenceTransformer

    network = SentenceTransformer(name.partition("/")[2])
    return network, {
        "version": importlib.metadata.version("sentence-transformers"),
        "preprocessing": "the tokenizer of the model",
        "weights": network_checksum(network),
    }


def encode(model: Any, items: list[str]) -> npt.NDArray[np.float32]:
    """Return the sentence vectors."""
    return np.asarray(model.encode(items, show_progress_bar=False), np.float32)
