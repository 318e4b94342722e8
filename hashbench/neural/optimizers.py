"""BertAdam, the optimizer of the methods that come from CLIP, which PyTorch does not have.

Unlike Adam it does not correct the bias of its averages. It decays weights separately from the
gradient, as AdamW does, and clips the gradient of each tensor to length one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def bert_adam(params: Iterable[Any], lr: float, total_steps: int) -> tuple[Any, Any]:
    """Return BertAdam and its learning rate schedule, which is stepped once per batch.

    One step with gradient g of a tensor w, clipped to length one, is

        m <- .9 m + .1 g,    v <- .98 v + .02 g^2,
        w <- w - lr_t (m / (sqrt v + 1e-6) + .2 w).

    Parameters
    ----------
    params : tensors, or parameter groups as PyTorch has them
        A group with ``clip_blocks`` has tensors of so many equal blocks of rows; the gradient of
        each block is clipped by itself.
    lr : the learning rate that :func:`warmup_cosine` multiplies
    total_steps : number of steps in all epochs

    Returns
    -------
    torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR
    """
    import torch
    from torch.optim import Optimizer
    from torch.optim.lr_scheduler import LambdaLR

    class BertAdam(Optimizer):  # type: ignore[misc]
        def step(self, closure: Any = None) -> Any:
            with torch.no_grad():
                for group in self.param_groups:
                    for w in group["params"]:
                        if w.grad is not None:
                            self.update(w, **group)

        def update(
            self, w: Any, lr: float, weight_decay: float, clip_blocks: int, **_: Any
        ) -> None:
            state = self.state[w]
            if not state:
                state["m"], state["v"] = torch.zeros_like(w), torch.zeros_like(w)
            blocks = w.grad.reshape(clip_blocks, -1)
            clip = (1 / (blocks.norm(dim=1, keepdim=True) + 1e-6)).clamp(max=1)
            g = (blocks * clip).reshape(w.shape)
            m = state["m"].mul_(0.9).add_(g, alpha=0.1)
            v = state["v"].mul_(0.98).addcmul_(g, g, value=0.02)
            w.mul_(1 - lr * weight_decay)
            w.addcdiv_(m, v.sqrt().add_(1e-6), value=-lr)

    defaults = {"lr": lr, "weight_decay": 0.2, "clip_blocks": 1}
    optimizer = BertAdam(params, defaults)
    return optimizer, LambdaLR(optimizer, lambda step: warmup_cosine(step / max(total_steps, 1)))


def warmup_cosine(progress: float) -> float:
    """Return the factor of the learning rate after a part of the steps.

    It rises linearly from zero over the first tenth, then follows half a cosine that began with
    the first step, so that it drops a little where the two meet.

    Examples
    --------
    >>> [round(warmup_cosine(progress), 3) for progress in (0, 0.05, 0.1, 0.5, 1)]
    [0.0, 0.5, 0.976, 0.5, 0.0]
    """
    if progress < 0.1:
        return progress / 0.1
    return 0.5 * (1 + math.cos(math.pi * progress))
