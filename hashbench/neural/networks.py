"""Networks that several neural methods share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any


def mlp(widths: Sequence[int], dropout: float = 0.0) -> Any:
    """Return linear layers of the given widths with ReLU between them and dropout after each ReLU.

    Parameters
    ----------
    widths : columns of the input, units of each hidden layer, columns of the output
    dropout : part of each hidden layer that training sets to zero

    Returns
    -------
    torch.nn.Sequential
    """
    from torch import nn

    layers: list[Any] = []
    for index, (n_in, n_out) in enumerate(pairwise(widths)):
        if index:
            layers += [nn.ReLU(), *([nn.Dropout(dropout)] if dropout else [])]
        layers.append(nn.Linear(n_in, n_out))
    return nn.Sequential(*layers)
