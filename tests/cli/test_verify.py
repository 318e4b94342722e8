"""``hashbench verify``: no damage changes a number without a message."""

import json
import shutil

import numpy as np
import pytest

from hashbench.cli import main
from hashbench.core.io import checksum, read_record, write_record
from hashbench.core.npz import read_arrays
from tests.helpers import fuzz

SMALL = "synthetic[rows=300,query=60]"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small study, untouched."""
    out = tmp_path_factory.mktemp("verify") / "out"
    assert ended("run", "-m", "random,cca,dch", "-d", SMALL, "-b", "8", "-s", "1", "-o", out) == 0
    return out


def ended(*words):
    """Return the exit code of a command."""
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in (*words, *(["--quiet"] if words[0] == "run" else []))])
    return end.value.code or 0


def verified(out, *words):
    """Return the exit code of verify, which does not exit where all is well."""
    try:
        main(["verify", str(out), "--quiet", *words])
    except SystemExit as end:
        return end.code or 0
    return 0


#: One file of every kind that can change a number.
FILES = (
    "plan.json", "results.csv", "runs.csv", "cells/*/cell.json", "cells/*/codes.npz",
    "cells/*/history.npz", "splits/*.npz", ".evaluated/*.json", ".evaluated/*.npz",
)  # fmt: skip


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x55
    path.write_bytes(content)


DAMAGES = {
    "flipped": flip,
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "gone": lambda path: path.unlink(),
}


def edit(path, change):
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def other_array(path, name, change):
    arrays = read_arrays(path)
    arrays[name] = change(arrays[name])
    np.savez_compressed(path, **arrays)


#: Files that can be read as well as before, and say something else.
EDITS = {
    "labels of a split": ("splits/*.npz", lambda p: other_array(p, "query_labels", np.flip)),
    "codes of a cell": ("cells/*/codes.npz", lambda p: other_array(p, "query_0", np.flip)),
    "fit time": (
        "cells/*/cell.json",
        lambda p: edit(p, lambda r: r["run"]["seconds"].update(fit=1e-6)),
    ),
    "cached value": (
        ".evaluated/*.json",
        lambda p: edit(p, lambda r: r["rankings"][0]["scores"]["AP"].update(value=0.99)),
    ),
    "printed value": (
        "results.csv",
        lambda p: p.write_text(p.read_text().replace(",0.", ",0.9", 1)),
    ),
    "measures of the plan": ("plan.json", lambda p: edit(p, lambda r: r.update(measures=["P@1"]))),
}

CASES = {
    **{f"{name} {how}": (name, damage) for name in FILES for how, damage in DAMAGES.items()},
    **EDITS,
}
DEFAULT = {
    "plan.json cut", "cells/*/codes.npz flipped", "splits/*.npz gone", "labels of a split",
    "fit time", "cached value", "printed value",
}  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [pytest.param(name, marks=[] if name in DEFAULT else pytest.mark.slow) for name in CASES],
)
def test_damage_is_named_and_the_next_run_gives_the_same_numbers(case, whole, tmp_path, capsys):
    pattern, damage = CASES[case]
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    path = sorted(out.glob(pattern))[0]
    damage(path)
    capsys.readouterr()
    code = verified(out)
    message = capsys.readouterr().err
    if pattern.startswith(".") and not path.exists() and case.endswith("gone"):
        assert code == 0  # a cache may be deleted at any time
    else:
        assert code == 1
        assert path.stem in message or path.parent.name in message
    assert ended("run", whole / "study.toml", "-o", out) == 0
    assert (out / "results.csv").read_bytes() == (whole / "results.csv").read_bytes()
    assert verified(out) == 0


@pytest.mark.parametrize(
    "pattern", ["plan.json", "cells/*/cell.json", "splits/*.npz", ".evaluated/*.json"]
)
def test_a_mutant_is_a_line_or_gives_the_same_numbers(pattern, whole, tmp_path):
    """One per file here, a hundred with `-m slow` in tests/data/formats/test_fuzz.py."""
    place = sorted(whole.glob(pattern))[0]
    mutants = list(fuzz.mutants(place.read_bytes(), 2, seed=len(pattern)))
    (said,) = fuzz.style(whole, str(place.relative_to(whole)), mutants[1:], tmp_path, typing=False)
    assert said in fuzz.ALLOWED


@pytest.mark.parametrize("how", ["flipped", "cut", "labels of a split"])
def test_no_report_is_made_of_a_damaged_split(how, whole, tmp_path, capsys):
    """Not even where every number has to be computed again."""
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    shutil.rmtree(out / ".evaluated")
    damage = EDITS[how][1] if how in EDITS else DAMAGES[how]
    split = next(out.glob("splits/*.npz"))
    damage(split)
    capsys.readouterr()
    assert ended("report", out, "map-table", "--format", "csv") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert split.name in line
    assert not (out / ".evaluated").exists()


def test_status_of_a_damaged_cell_ends_with_1(whole, tmp_path, capsys):
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    flip(next(out.glob("cells/*/codes.npz")))
    capsys.readouterr()
    assert ended("status", out) == 1
    assert "codes.npz" in capsys.readouterr().out


def test_a_plan_of_brackets_is_reported_in_one_line(whole, tmp_path, capsys):
    (tmp_path / "plan.json").write_text("[" * 100_000)
    for command in ("status", "report"):
        assert ended(command, tmp_path) == 2
        assert capsys.readouterr().err.count("\n") == 1


def forge(cell, environment, **changes):
    """Put other codes into a cell, with checksums that are right."""
    other_array(cell / "codes.npz", "query_0", np.flip)
    record = read_record(cell / "cell.json")
    record["run"].update(changes)
    record["run"]["files"]["codes.npz"] = checksum(cell / "codes.npz")
    record["run"]["environment"].update(environment)
    write_record(cell / "cell.json", record)


def test_cells_fitted_again_have_the_same_codes(whole, capsys):
    assert verified(whole, "--rerun", "2") == 0
    assert "2 cells" in capsys.readouterr().out


def test_forged_codes_are_found_by_fitting_again(whole, tmp_path, capsys):
    """Codes with forged checksums are found only by computing them again."""
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    cells = [
        each for each in (out / "cells").iterdir() if "dch" in (each / "cell.json").read_text()
    ]
    forge(cells[0], {})
    assert verified(out) == 1  # the table is not that of these codes
    assert verified(out) == 0  # now it is
    capsys.readouterr()
    assert verified(out, "--rerun", "3") == 1
    assert cells[0].name in capsys.readouterr().err
    assert not cells[0].exists()
    assert ended("run", whole / "study.toml", "-o", out) == 0
    assert (out / "results.csv").read_bytes() == (whole / "results.csv").read_bytes()


def test_other_versions_are_named_and_nothing_is_set_aside(whole, tmp_path, capsys):
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    for cell in (out / "cells").iterdir():
        forge(cell, {"numpy": "1.0"}, threads=7)
    verified(out)  # puts the tables right
    capsys.readouterr()
    assert verified(out, "--rerun", "1") == 0
    said = capsys.readouterr().err
    assert "numpy 1.0" in said
    assert "threads 7" in said
    assert not (out / "set-aside").exists() or len(list((out / "cells").iterdir())) == 3


def test_a_folder_without_results_is_reported_in_one_line(tmp_path, capsys):
    assert verified(tmp_path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(tmp_path) in line
