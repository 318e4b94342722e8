"""What pools of tests import before they are forked."""

import importlib

from hashbench.execution.pool import PRELOAD
from hashbench.plugins.registry import discover

for name in PRELOAD:
    importlib.import_module(name)
discover()
