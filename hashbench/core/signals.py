"""The signals that end a command."""

from __future__ import annotations

import signal


def install_handlers() -> None:
    """Raise KeyboardInterrupt on SIGINT, SIGTERM and SIGHUP."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
