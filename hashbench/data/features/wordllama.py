"""WordLlama: a table of word vectors inside its package; a sentence is the mean of its tokens."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.core.io import checksum

INSTALL = "pip install 'hashbench[features]'"


def load(name: str) -> tuple[Any, dict[str, str]]:
    """Return the tokenizer with the table of vectors, and their description."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    found = importlib.util.find_spec("wordllama")  # importing it would look for a download
    if found is None or found.origin is None:
        raise HashbenchError(f"text encoder 'wordllama' needs the package wordllama; {INSTALL}")
    folder = Path(found.origin).parent
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    tokenizer.no_truncation()
    vectors = load_file(weights)["embedding.weight"].astype(np.float32)
    return (tokenizer, vectors), {
        "version": importlib.metadata.version("wordllama"),
        "preprocessing": "mean vector of the tokens of each line, mean over lines",
        "weights": checksum(weights),
    }


def encode(model: Any, items: list[str]) -> npt.NDArray[np.float32]:
    """Return the mean over a text's lines of the mean vector of their tokens, (n, 256)."""
    tokenizer, vectors = model
    rows = np.zeros((len(items), vectors.shape[1]), np.float32)
    for row, text in zip(rows, items, strict=True):
        lines = tokenizer.encode_batch(text.splitlines(), add_special_tokens=False)
        means = [vectors[line.ids].mean(axis=0) for line in lines if line.ids]
        if means:
            row[:] = np.mean(means, axis=0)
    return rows
