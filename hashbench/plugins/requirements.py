"""Modules that a method requires in addition to the core dependencies.

A method names them in ``requires``. If one is not installed, patterns skip the method, and naming
it is an error with the command to install.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashbench.plugins.registry import Plugin


def missing_modules(cls: type[Any]) -> list[str]:
    """Return the modules that a method requires and that are not installed; imports nothing."""
    return [name for name in cls.requires if importlib.util.find_spec(name) is None]


def install_command(module: str) -> str:
    """Return the command that installs a module."""
    return f"pip install {module}"


def unavailable(methods: Mapping[str, Plugin]) -> dict[str, str]:
    """Return the missing modules of methods that cannot run here: ``torch: pip install ...``."""
    return {
        name: ", ".join(f"{module}: {install_command(module)}" for module in modules)
        for name, plugin in methods.items()
        if (modules := missing_modules(plugin.cls))
    }
