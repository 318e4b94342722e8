"""Marks for tests that need what a machine may lack."""

import os

import pytest

#: Marks of a module whose tests all read real data.
REFERENCE = [
    pytest.mark.reference,
    pytest.mark.skipif(
        not os.environ.get("HASHBENCH_DATA"), reason="HASHBENCH_DATA is not set: no real data"
    ),
]


def needs_data(test):
    """Mark one test that reads real data."""
    for mark in REFERENCE:
        test = mark(test)
    return test
