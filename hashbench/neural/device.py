"""How PyTorch is used: the import, the device, seeds and threads."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hashbench.core.errors import HashbenchError
from hashbench.plugins.requirements import install_command

#: The environment variable with the device of the networks; ``--device`` sets it for every cell.
DEVICE = "HASHBENCH_DEVICE"


def import_torch(who: str) -> Any:
    """Return the module, or raise an error that says how to install it."""
    try:
        return importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise HashbenchError(f"{who} needs torch: {install_command('torch')}") from None


def run_device(who: str) -> str:
    """Return the device of the run; ``auto`` is CUDA or Apple's GPU if there is one."""
    torch = import_torch(who)
    device = os.environ.get(DEVICE) or "auto"
    present = {"cpu": True, "cuda": torch.cuda.is_available()}
    present["mps"] = torch.backends.mps.is_available()
    if device == "auto":
        return next((name for name in ("cuda", "mps") if present[name]), "cpu")
    if not present.get(device.partition(":")[0], False):
        allowed = ", ".join(["auto", *(name for name, there in present.items() if there)])
        raise HashbenchError(f"device: found {device!r}; allowed here: {allowed}")
    return device


def has_bfloat16(device: str) -> bool:
    """Return whether a device is a CUDA device that computes in bfloat16."""
    torch = import_torch("a neural method")
    return device.startswith("cuda") and torch.cuda.get_device_capability(device)[0] >= 8


@contextmanager
def trained_on(device: str | None) -> Iterator[None]:
    """Set the device for the processes of cells; restore the environment afterwards."""
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
    """Seed PyTorch, with deterministic algorithms on the CPU; restore its state afterwards."""
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
    """Restore PyTorch's number of threads, which compiled measures change through OpenMP."""
    torch = import_torch("a neural method")
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)
