"""Tensor functions that several neural methods share.

A tensor brings its operations along, so that most of these need no import of PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

Tensor = Any  # torch.Tensor, which nothing here may import


def normalise(A: Tensor) -> Tensor:
    """Return A with rows of length one; rows of zeros stay zero."""
    return A / A.norm(dim=1, keepdim=True).clamp(min=1e-12)


def cosines(A: Tensor, B: Tensor) -> Tensor:
    """Return the cosines between rows of A and rows of B."""
    return normalise(A) @ normalise(B).T


def mse(A: Tensor, B: Tensor) -> Tensor:
    """Return the mean of squared differences over all entries."""
    return (A - B).square().mean()


def sign(A: Tensor) -> Tensor:
    """Return +1 where A >= 0 and -1 elsewhere, a constant to the gradient."""
    return (A.detach() >= 0).to(A.dtype) * 2 - 1


def sharing(L: Tensor) -> Tensor:
    """Return which rows share a label, as 0.0 and 1.0."""
    return (L @ L.T > 0).to(L.dtype)


def perceptron(widths: Sequence[int], dropout: float = 0.0) -> Any:
    """Return linear layers of the widths given, ReLU between them, dropout after each ReLU."""
    from torch import nn

    layers: list[Any] = []
    for index, (before, after) in enumerate(pairwise(widths)):
        if index:
            layers += [nn.ReLU(), *([nn.Dropout(dropout)] if dropout else [])]
        layers.append(nn.Linear(before, after))
    return nn.Sequential(*layers)
