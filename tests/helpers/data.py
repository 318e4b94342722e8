"""Marks for tests that need what a machine may lack."""

from __future__ import annotations

import os

import pytest

_skip_without_data = pytest.mark.skipif(
    "HASHBENCH_DATA" not in os.environ, reason="HASHBENCH_DATA is not set: no real data"
)


def needs_data(test):
    """Mark a test that reads real data: step `reference` of CI."""
    return pytest.mark.reference(_skip_without_data(test))
