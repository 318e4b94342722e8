"""What an installation has and lacks, and what it keeps in its cache."""

import importlib.metadata
import json

import pytest

import hashbench as package


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    (folder / "wiki").mkdir(parents=True)
    (folder / "wiki" / "file.mat").write_bytes(b"x" * 3000)
    (folder / "kernels" / "old").mkdir(parents=True)
    return folder


def test_doctor_says_what_there_is(hashbench, cache, tmp_path):
    plugin = tmp_path / "broken.py"
    plugin.write_text("import nothing_of_this_name\n")
    done = hashbench(
        "doctor", "--json", "--plugin", plugin, HASHBENCH_CACHE=str(cache), HASHBENCH_DATA=""
    )
    facts = json.loads(done.stdout)
    assert done.returncode == 1  # a broken plugin
    assert "nothing_of_this_name" in facts["broken plugins"][str(plugin)]
    assert facts["versions"]["hashbench"].startswith(package.__version__)
    assert facts["versions"]["numpy"][0].isdigit()
    assert "missing" not in facts["data"]["emoji"]
    assert "missing" in facts["data"]["nuswide"]
    assert facts["caches"]["wiki"].startswith("2.9 kB")
    offered = importlib.metadata.metadata("hashbench").get_all("Provides-Extra")
    assert set(facts["extras"]) == {*offered} - {"docs", "test"}


def test_doctor_as_text_ends_well(hashbench, cache):
    done = hashbench("doctor", HASHBENCH_CACHE=str(cache), HASHBENCH_DATA="")
    assert done.returncode == 0, done.stderr
    assert str(cache) in done.stdout
    assert "versions" in done.stdout


def test_cache_lists_and_clears(hashbench, cache):
    listed = json.loads(hashbench("cache", "--json", HASHBENCH_CACHE=str(cache)).stdout)
    assert {each["name"]: each["size"] for each in listed} == {"kernels": 0, "wiki": 3000}
    wrong = hashbench("cache", "clear", "wikk", HASHBENCH_CACHE=str(cache))
    assert wrong.returncode == 2
    assert "'wiki'" in wrong.stderr
    assert hashbench("cache", "clear", "wiki", HASHBENCH_CACHE=str(cache)).returncode == 0
    assert [path.name for path in cache.iterdir()] == ["kernels"]
    hashbench("cache", "clear", HASHBENCH_CACHE=str(cache))
    assert not list(cache.iterdir())
    assert json.loads(hashbench("cache", "--json", HASHBENCH_CACHE=str(cache)).stdout) == []
