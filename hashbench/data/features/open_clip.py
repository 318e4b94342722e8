"""Models of the package open_clip: ``open-clip/ViT-B-32:laion2b_s34b_b79k``.

The part behind the colon names weights, which the package downloads, or a file of weights. The
package's own ``hf-hub:NAME`` and ``local-dir:FOLDER`` are models with their weights.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.data.features.encoders import network_checksum

INSTALL = "pip install open_clip_torch"

#: How the package names models that come with their weights.
COMPLETE = ("hf-hub", "local-dir")


def load(name: str) -> tuple[Any, dict[str, str]]:
    """Return the network with its transform and tokenizer, and its description."""
    import open_clip

    model = name.partition("/")[2]
    architecture, _, weights = model.partition(":")
    if architecture in COMPLETE:
        architecture, weights = model, ""
    network, _, transform = open_clip.create_model_and_transforms(
        architecture, pretrained=weights or None
    )
    tokenizer = open_clip.get_tokenizer(architecture)
    return (network.eval(), transform, tokenizer), {
        "version": importlib.metadata.version("open_clip_torch"),
        "preprocessing": "the transform and the tokenizer of the model",
        "weights": network_checksum(network),
    }


def encode(model: Any, items: list[Any]) -> npt.NDArray[np.float32]:
    """Return the outputs of the image or the text tower, not normalised."""
    import torch

    network, transform, tokenizer = model
    with torch.inference_mode():
        if isinstance(items[0], str):
            rows = network.encode_text(tokenizer(items))
        else:
            rows = network.encode_image(torch.stack([transform(item) for item in items]))
    features: npt.NDArray[np.float32] = rows.float().numpy()
    return features
