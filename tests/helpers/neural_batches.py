"""Batches, outputs and cosines for tests of neural losses."""

import numpy as np

from hashbench.neural.method import TrainingRows


def batch_of(method, views, labels, epoch=1):
    """Return all rows as the batch that a fitted method would see."""
    return rows_of(method, views, labels).batch(np.arange(len(labels)), epoch)


def rows_of(method, views, labels):
    """Return training rows as a fitted method sees them."""
    Y = np.asarray(labels, np.float32) if method.supervised else None
    return TrainingRows(views, Y, method.scalers_, "cpu")


def cosine(A, B):
    """Return the cosines between rows."""
    A, B = (X / np.linalg.norm(X, axis=1, keepdims=True) for X in (A, B))
    return A @ B.T


def outputs(method, batch):
    """Return the outputs of the networks, one array per view, before a tanh of the method."""
    return [
        net(x).detach().numpy().astype(float)
        for net, x in zip(method.networks_, batch.views, strict=True)
    ]
