"""What tests of the running command share."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def hashbench():
    """Return a function that runs the real command and returns how it ended."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hashbench", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **environment},
        )

    return run
