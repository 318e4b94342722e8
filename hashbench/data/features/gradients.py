"""Oriented gradients and colours of pictures: needs no weights and no further package."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

SIDE, CELLS, DIRECTIONS, LEVELS = 64, 4, 8, 4


def load(name: str) -> tuple[None, dict[str, str]]:
    """Return no model, and the description of the features."""
    return None, {
        "version": "1",
        "preprocessing": f"{SIDE} x {SIDE}, {DIRECTIONS} directions in {CELLS} x {CELLS} cells, "
        f"{LEVELS}^3 colours; square roots of shares",
    }


def encode(model: None, items: list[Any]) -> npt.NDArray[np.float32]:
    """Return histograms of gradient directions by cell and of colours, (n, 192)."""
    return np.stack([_features(item) for item in items])


def _features(picture: Any) -> npt.NDArray[np.float32]:
    rgb = np.asarray(picture.resize((SIDE, SIDE)), np.float32) / 256
    down, right = np.gradient(rgb.mean(axis=2))
    direction = np.floor((np.arctan2(down, right) % np.pi) / np.pi * DIRECTIONS).astype(int)
    cell = np.arange(SIDE) * CELLS // SIDE
    bins = (cell[:, None] * CELLS + cell) * DIRECTIONS + np.minimum(direction, DIRECTIONS - 1)
    edges = np.bincount(
        bins.ravel(), np.hypot(down, right).ravel(), minlength=CELLS * CELLS * DIRECTIONS
    )
    level = (rgb * LEVELS).astype(int) @ np.array([LEVELS**2, LEVELS, 1])
    colours = np.bincount(level.ravel(), minlength=LEVELS**3)
    shares = [part / max(part.sum(), 1e-9) for part in (edges, colours)]
    features: npt.NDArray[np.float32] = np.sqrt(np.concatenate(shares)).astype(np.float32)
    return features
