"""What a plugin needs beyond the core: modules that may not be installed.

A method names them in ``requires``. Without them it is listed and shown, left out where a
pattern chooses it, and refused with the command to install where it is named.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashbench.plugins.registry import Plugin


def lacking(cls: type[Any]) -> list[str]:
    """Return the modules that a method requires and that are not installed; imports nothing."""
    return [name for name in cls.requires if importlib.util.find_spec(name) is None]


def install_command(module: str) -> str:
    """Return what to type to get a module: the same in a clone and with an installed package."""
    return f"pip install {module}"


def unavailable(methods: Mapping[str, Plugin]) -> dict[str, str]:
    """Return what each method that cannot run here needs, by name: ``torch: pip install ...``."""
    return {
        name: ", ".join(f"{module}: {install_command(module)}" for module in modules)
        for name, plugin in methods.items()
        if (modules := lacking(plugin.cls))
    }
