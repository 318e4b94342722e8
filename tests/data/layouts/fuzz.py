"""A mutating driver for the readers of files: seeded, and each mutant read in a child of its own.

`read` is what the fork server calls; :func:`mutants` makes the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

#: Words that stand where files keep lengths, types and signs.
WORDS = (b"\x00", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\xff" * 8)


def mutants(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield damaged copies: bits flipped, words put in, parts cut out, doubled or exchanged."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        data = bytearray(content)
        for _ in range(int(rng.integers(1, 5))):
            place = int(rng.integers(len(data)))
            length = int(min(rng.geometric(0.05), len(data) - place))
            kind = rng.integers(6)
            if kind == 0:
                data[place] ^= 1 << int(rng.integers(8))
            elif kind == 1:
                data[place] = int(rng.integers(256))
            elif kind == 2:
                word = WORDS[rng.integers(len(WORDS))]
                data[place : place + len(word)] = word
            elif kind == 3 and len(data) > length:
                del data[place : place + length]
            elif kind == 4:
                data[place:place] = data[place : place + length]
            else:
                other = int(rng.integers(len(data)))
                data[place : place + length] = data[other : other + length]
            if not data:
                break
        yield bytes(data)


def read(registry: Any, folder: Path, cache: Path, paths: list[str]) -> dict[str, Any]:
    """Read files; return what became of each: accepted, a line, or something that is neither."""
    from hashbench.base.errors import HashbenchError
    from hashbench.data.layouts import load_file

    said: dict[str, str] = {}
    for path in paths:
        (folder / "at").write_text(path)  # who was it, if this process does not end well
        try:
            load_file(Path(path))
            said[path] = "accepted"
        except HashbenchError as error:
            said[path] = "line" if "\n" not in str(error) else f"lines: {error}"
        except Exception as error:
            said[path] = f"traceback: {type(error).__name__}: {error}"
    return {"said": said}
