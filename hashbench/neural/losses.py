"""Tensor functions that the losses of several neural methods share.

They call methods of the tensors they are given, so that none of them imports PyTorch.
"""

from __future__ import annotations

from typing import Any

Tensor = Any  # torch.Tensor, which is not imported here


def normalize(A: Tensor) -> Tensor:
    """Return A with rows of length one; rows of zeros stay zero."""
    return A / A.norm(dim=1, keepdim=True).clamp(min=1e-12)


def cosines(A: Tensor, B: Tensor) -> Tensor:
    """Return the matrix of cosines between the rows of A and the rows of B."""
    return normalize(A) @ normalize(B).T


def mse(A: Tensor, B: Tensor) -> Tensor:
    """Return the mean of squared differences over all entries."""
    return (A - B).square().mean()


def sign(A: Tensor) -> Tensor:
    """Return +1 where A >= 0 and -1 elsewhere, without a gradient."""
    return (A.detach() >= 0).to(A.dtype) * 2 - 1


def share_label(A: Tensor, B: Tensor) -> Tensor:
    """Return the matrix S: 1.0 where a row of A shares a label with a row of B, else 0.0.

    A and B are (n, c) and (m, c) label matrices of 0.0 and 1.0.
    """
    return (A @ B.T > 0).to(A.dtype)
