"""Whatever is wrong with the cache of compiled kernels costs compile time and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

#: One method with compiled loops, and measures that are compiled.
STUDY = ["run", "-m", "lssh", "-d", "synthetic[rows=100]", "-b", "8", "-s", "1", "--measures", "AP"]


@pytest.fixture(scope="module")
def filled(hashbench, tmp_path_factory):
    """Return a cache that a run has filled, and that run's results."""
    folder = tmp_path_factory.mktemp("filled")
    done = hashbench(*STUDY, "-o", folder / "out", HASHBENCH_CACHE=str(folder / "cache"))
    assert done.returncode == 0, done.stderr
    assert list((folder / "cache").rglob("*.nbi"))
    return folder / "cache", (folder / "out" / "results.csv").read_bytes()


def test_a_full_disk_under_the_cache_harms_no_run(hashbench, filled, small_disk, tmp_path):
    done = hashbench(*STUDY, "-o", tmp_path / "out", HASHBENCH_CACHE=str(small_disk(16)))
    assert done.returncode == 0, done.stderr
    assert "1 cell: 1 done" in done.stdout
    assert (tmp_path / "out" / "results.csv").read_bytes() == filled[1]


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def altered(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(len(data) // 3, len(data), 97):
        data[place] ^= 0x55
    path.write_bytes(data)


def test_a_damaged_cache_is_compiled_again(hashbench, filled, tmp_path):
    cache = tmp_path / "cache"
    shutil.copytree(filled[0], cache)
    for pattern in ("*.nbi", "*.nbc"):  # numba's index and its machine code
        for number, path in enumerate(sorted(cache.rglob(pattern))):
            (emptied, cut, altered)[number % 3](path)
    done = hashbench(*STUDY, "-o", tmp_path / "out", HASHBENCH_CACHE=str(cache))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "results.csv").read_bytes() == filled[1]
    assert all(path.stat().st_size for path in cache.rglob("*.nbi"))  # and it is whole again
