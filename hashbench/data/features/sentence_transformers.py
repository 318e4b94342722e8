"""Models of the package sentence-transformers: ``sentence-transformers/all-MiniLM-L6-v2``.

The part behind the slash names a model, which the package downloads, or a folder with one.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.data.features.encoders import file_checksum

INSTALL = "pip install sentence-transformers"


def load(name: str) -> tuple[Any, dict[str, str]]:
    """Return the model and its description."""
    from sentence_transformers import SentenceTransformer

    model = name.partition("/")[2]
    recipe = {
        "version": importlib.metadata.version("sentence-transformers"),
        "preprocessing": "the tokenizer of the model",
    }
    weights = Path(model) / "model.safetensors"
    if weights.is_file():
        recipe["weights"] = file_checksum(weights)
    return SentenceTransformer(model), recipe


def encode(model: Any, items: list[str]) -> npt.NDArray[np.float32]:
    """Return the sentence vectors."""
    return np.asarray(model.encode(items, show_progress_bar=False), np.float32)
