"""Whatever is wrong with the cache of compiled kernels costs compile time and nothing else."""

from __future__ import annotations

import importlib.util
import pickle
import shutil

import pytest

from hashbench.core import compilation

SOURCE = """
from hashbench.core.compilation import kernel

@kernel()
def double(value):
    return 2 * value
"""


@pytest.fixture
def use_kernel(tmp_path, monkeypatch):
    """Return a function that uses a kernel as a new process does: how often it was compiled."""
    folder = tmp_path / "package"
    folder.mkdir()
    path = folder / "kernels.py"
    path.write_text(SOURCE)

    def use(cache) -> int:
        monkeypatch.setenv("HASHBENCH_CACHE", str(cache))
        compilation.sources_hash.cache_clear()
        spec = importlib.util.spec_from_file_location("toy_kernels", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.double(21) == 42
        assert {each.name for each in folder.iterdir()} <= {path.name, "other.py", "__pycache__"}
        assert not list(folder.rglob("*.nb?"))
        return module.double.stats.cache_misses.total()

    return use


def test_a_kernel_is_compiled_once_for_all_processes(use_kernel, tmp_path):
    assert [use_kernel(tmp_path / "cache") for _ in range(3)] == [1, 0, 0]


def test_a_kernel_is_compiled_again_when_a_file_beside_it_changes(use_kernel, tmp_path):
    use_kernel(tmp_path / "cache")
    (tmp_path / "package" / "other.py").write_text("def called(): ...")
    assert [use_kernel(tmp_path / "cache") for _ in range(2)] == [1, 0]


def emptied(data: bytes) -> bytes:
    return b""


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def altered(data: bytes) -> bytes:
    start = len(data) // 3
    return data[:start] + bytes(each ^ 0x55 for each in data[start:])


def of_another_version(data: bytes) -> bytes:
    return pickle.dumps("0.1.2") + data


@pytest.mark.parametrize("damage", [emptied, cut, altered, of_another_version])
@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])  # numba's index and its machine code
def test_a_damaged_file_is_replaced(use_kernel, tmp_path, pattern, damage):
    use_kernel(tmp_path / "cache")
    (path,) = (tmp_path / "cache").rglob(pattern)
    path.write_bytes(damage(path.read_bytes()))
    assert [use_kernel(tmp_path / "cache") for _ in range(2)] == [1, 0]


def test_a_full_disk_keeps_no_kernel(use_kernel, small_disk):
    disk = small_disk(16)
    (disk / "fill").write_bytes(bytes(shutil.disk_usage(disk).free))
    assert [use_kernel(disk) for _ in range(2)] == [1, 1]


def test_a_folder_that_cannot_be_made_keeps_no_kernel(use_kernel, tmp_path):
    (tmp_path / "file").touch()
    assert [use_kernel(tmp_path / "file" / "cache") for _ in range(2)] == [1, 1]


@pytest.mark.slow  # compiles all kernels twice
def test_a_run_is_the_same_with_a_damaged_cache(hashbench, tmp_path):
    study = ["run", "-m", "lssh", "-d", "synthetic[rows=100]", "-b", "8", "--measures", "AP"]
    tables = []
    for out in ("first", "second"):
        new_process = {"HASHBENCH_CACHE": str(tmp_path / "cache"), "NUMBA_NUM_THREADS": "1"}
        done = hashbench(*study, "-o", tmp_path / out, **new_process)
        assert done.returncode == 0, done.stderr
        tables.append((tmp_path / out / "results.csv").read_bytes())
        for path in (tmp_path / "cache").rglob("*.nb?"):
            path.write_bytes(altered(path.read_bytes()))
    assert tables[0] == tables[1]
