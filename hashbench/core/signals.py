"""Being interrupted between two steps, never within one.

Python raises KeyboardInterrupt wherever it happens to be: between telling the fork server to
start a task and noting that it runs, the task would be nobody's. A step that must be whole is
therefore wrapped in :func:`uninterrupted`, and what arrives meanwhile is raised at its end.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_depth = 0
_waiting = False


def install_handlers() -> None:
    """Raise KeyboardInterrupt on SIGINT, SIGTERM and SIGHUP, as soon as no step is under way."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back interrupts that :func:`install_handlers` hears until the end of a short step."""
    global _depth, _waiting
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if _waiting and _depth == 0:
            _waiting = False
            raise KeyboardInterrupt


def _interrupt(*_: object) -> None:
    global _waiting
    if _depth:
        _waiting = True
        return
    raise KeyboardInterrupt
