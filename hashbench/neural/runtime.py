"""PyTorch as a run uses it: imported late, on one device, from one seed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hashbench.base.errors import HashbenchError
from hashbench.plugins.requirements import install_command

#: Where the networks of a run are trained; ``--device`` sets it for every cell.
DEVICE = "HASHBENCH_DEVICE"


def import_torch(who: str) -> Any:
    """Return the module, or raise the error that says how to get it."""
    try:
        return importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise HashbenchError(f"{who} needs torch: {install_command('torch')}") from None


def run_device(who: str) -> str:
    """Return the device that the run asks for; ``auto`` takes CUDA or Apple's if there is one."""
    torch = import_torch(who)
    asked = os.environ.get(DEVICE) or "auto"
    present = {"cpu": True, "cuda": torch.cuda.is_available()}
    present["mps"] = torch.backends.mps.is_available()
    if asked == "auto":
        return next((name for name in ("cuda", "mps") if present[name]), "cpu")
    if not present.get(asked.partition(":")[0], False):
        allowed = ", ".join(["auto", *(name for name, there in present.items() if there)])
        raise HashbenchError(f"device: found {asked!r}; allowed here: {allowed}")
    return asked


@contextmanager
def trained_on(device: str | None) -> Iterator[None]:
    """Set the device that the processes of cells inherit, and restore the environment."""
    before = os.environ.get(DEVICE)
    if device is not None:
        os.environ[DEVICE] = device
    try:
        yield
    finally:
        if before is not None:
            os.environ[DEVICE] = before
        elif device is not None:
            del os.environ[DEVICE]


@contextmanager
def seeded(seed: int, device: str) -> Iterator[None]:
    """Draw random numbers from a seed, deterministically on the CPU; leave no trace outside."""
    torch = import_torch("a neural method")
    deterministic = torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng(device_type="mps" if device == "mps" else "cuda"):
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(device == "cpu" or deterministic)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(deterministic)


@contextmanager
def same_threads() -> Iterator[None]:
    """Leave PyTorch the threads it has: compiled measures, which share OpenMP with it, set more."""
    torch = import_torch("a neural method")
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)
