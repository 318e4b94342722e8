"""Find encoders by name.

An encoder is a module with two functions:

- ``load(name)`` returns the model and a dictionary that describes it: ``encoder``, ``version``,
  ``preprocessing`` and, where there are weights, ``weights`` (a checksum).
- ``encode(model, items)`` returns one row of features per item, (n, d) float32. Items are pictures
  (``PIL.Image``, RGB) or strings.

``--image`` and ``--text`` also accept the path of a Python file with these functions.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError, unknown
from hashbench.plugins.registry import import_file

Features = npt.NDArray[np.float32]

#: From names to modules; a name that ends in "/" is a prefix in front of a model's own name.
IMAGE_ENCODERS = {
    "gradients": "gradients",
    "efficientnet-lite0": "efficientnet",
    "efficientnet-lite1": "efficientnet",
    "efficientnet-lite2": "efficientnet",
    "open-clip/": "open_clip",
}
TEXT_ENCODERS = {
    "wordllama": "wordllama",
    "open-clip/": "open_clip",
    "sentence-transformers/": "sentence_transformers",
}

#: Text features that are counts over all rows of a dataset: no encoder sees single texts.
COUNTS = ("bow", "tfidf")


@dataclass(frozen=True)
class Encoder:
    """A loaded encoder.

    Attributes
    ----------
    recipe : what determines its features: encoder, version, preprocessing, checksum of weights
    """

    module: Any
    model: Any
    recipe: dict[str, str]

    def encode(self, items: list[Any]) -> Features:
        """Return one row of features per item."""
        rows = np.asarray(self.module.encode(self.model, items), np.float32)
        if rows.ndim != 2 or len(rows) != len(items) or not np.isfinite(rows).all():
            raise HashbenchError(
                f"encoder {self.recipe['encoder']}: found an array {rows.shape} for {len(items)} "
                "items; allowed: one finite row per item"
            )
        return rows


def load_encoder(name: str, kind: str) -> Encoder:
    """Return an encoder of pictures (kind "image") or of texts (kind "text")."""
    known = IMAGE_ENCODERS if kind == "image" else TEXT_ENCODERS
    prefix = f"{name.partition('/')[0]}/"
    if name.endswith(".py"):
        if not Path(name).is_file():
            raise HashbenchError(f"encoder {name}: there is no such file")
        module = import_file(Path(name))
    elif name in known or prefix in known:
        module_name = known.get(name) or known[prefix]
        module = importlib.import_module(f"hashbench.data.features.{module_name}")
    else:
        allowed = [*known, *(COUNTS if kind == "text" else ()), "FILE.py"]
        raise unknown(f"{kind} encoder", name, allowed)
    try:
        model, recipe = module.load(name)
    except ImportError as error:
        raise HashbenchError(
            f"{kind} encoder {name!r} needs the package {error.name}, which is not installed; "
            f"{getattr(module, 'INSTALL', 'install it')}"
        ) from error
    return Encoder(module, model, {"encoder": name, **recipe})


def network_checksum(network: Any) -> str:
    """Return the SHA-256 of the weights of a torch module, wherever they were loaded from."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in network.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()
