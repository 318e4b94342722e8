"""``hashbench verify``: 77 kinds of damage, none of which changes a number in silence."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from hashbench.cli import main
from hashbench.core.io import add_checksum, checksum, load_arrays
from hashbench.execution.verified_index import CheckedCell, describe
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
    "plan.json", "results.csv", "runs.csv", "cells/*/cell.json", "cells/*/status.json",
    "cells/*/codes.npz", "cells/*/history.npz", "splits/*.npz", ".evaluated/*.json",
    ".evaluated/*.npz", ".checked",
)  # fmt: skip


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x55
    path.write_bytes(content)


def foreign(path):
    others = [each for each in path.parents[1].glob(f"*/{path.name}") if each != path]
    shutil.copyfile(others[0], path) if others else path.write_bytes(b"x" * 100)


def folder(path):
    path.unlink()
    path.mkdir()


DAMAGES = {
    "flipped": flip,
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "foreign": foreign,
    "noise": lambda path: path.write_bytes(np.random.default_rng(0).bytes(500)),
}


def edit(path, change):
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def other_array(path, name, change):
    arrays = load_arrays(path)
    arrays[name] = change(arrays[name])
    np.savez_compressed(path, **arrays)


def forge_line(path):
    """Let what is believed unread say another time, with a checksum that is right."""
    line = path.read_bytes().split(b"\n")[1]
    known = CheckedCell.from_line(line)
    now = describe(str(path.parent / "cells" / known.cell.id))
    forged = CheckedCell(known.cell, replace(known.record, seconds={"fit": 1e-6}), now)
    path.write_bytes(path.read_bytes().replace(b"\n" + line, forged.to_line()))


#: Files that can be read as well as before, and say something else.
EDITS = {
    "labels of a split": ("splits/*.npz", lambda p: other_array(p, "query_labels", np.flip)),
    "codes of a cell": ("cells/*/codes.npz", lambda p: other_array(p, "query_0", np.flip)),
    "fit time": (
        "cells/*/status.json",
        lambda p: edit(p, lambda r: r["seconds"].update(fit=1e-6)),
    ),
    "no environment": ("cells/*/status.json", lambda p: edit(p, lambda r: r.update(environment=0))),
    "bits of a cell": ("cells/*/cell.json", lambda p: edit(p, lambda r: r["cell"].update(bits=16))),
    "remembered value": (
        ".evaluated/*.json",
        lambda p: edit(p, lambda r: r["rankings"][0]["scores"]["AP"].update(value=0.99)),
    ),
    "printed value": (
        "results.csv",
        lambda p: p.write_text(p.read_text().replace(",0.", ",0.9", 1)),
    ),
    "measures of the plan": ("plan.json", lambda p: edit(p, lambda r: r.update(measures=["P@1"]))),
    "100,000 brackets": ("plan.json", lambda p: p.write_text("[" * 100_000)),
    "a folder": ("cells/*/codes.npz", folder),
    "a fit time believed": (".checked", lambda p: forge_line(p)),
}

CASES = {
    **{f"{name} {how}": (name, damage) for name in FILES for how, damage in DAMAGES.items()},
    **EDITS,
}
IN_SUITE = {
    "plan.json cut", "cells/*/codes.npz flipped", "splits/*.npz gone", "labels of a split",
    "fit time", "remembered value", "printed value",
}  # fmt: skip


def test_there_are_as_many_kinds_as_is_said():
    assert len(CASES) == 77
    assert set(CASES) >= IN_SUITE


@pytest.mark.parametrize(
    "case",
    [pytest.param(name, marks=[] if name in IN_SUITE else pytest.mark.slow) for name in CASES],
)
def test_no_damage_changes_a_number_in_silence(case, whole, tmp_path, capsys):
    pattern, damage = CASES[case]
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    path = sorted(out.glob(pattern))[0]
    before = path.read_bytes()
    damage(path)
    changed = not path.is_file() or path.read_bytes() != before
    # may be deleted at any time, or some of its lines
    cache = pattern.startswith(".") and not path.exists()
    cache |= pattern == ".checked" and path.is_file() and not path.read_bytes()
    capsys.readouterr()
    code = verified(out)
    said = capsys.readouterr()
    assert "Traceback" not in said.err + said.out
    if code == 0:  # a byte that means nothing
        assert cache or pattern == "cells/*/cell.json" or not changed, said
    else:
        assert code == 1
        assert path.name.partition(".")[0] in said.err or path.parent.name in said.err, said.err
    assert ended("run", whole / "study.toml", "-o", out) == 0
    assert (out / "results.csv").read_bytes() == (whole / "results.csv").read_bytes()
    assert verified(out) == 0


def test_a_forged_index_of_checked_cells_is_found(whole, tmp_path, capsys):
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    forge_line(out / ".checked")
    assert verified(out) == 1
    assert ".checked" in capsys.readouterr().err
    assert verified(out) == 0


@pytest.mark.parametrize("pattern", [*FILES[:1], *FILES[3:]])
def test_a_mutant_is_a_line_or_gives_the_same_numbers(pattern, whole, tmp_path):
    """One a file here, a hundred with `-m slow` in tests/data/formats/test_fuzz.py."""
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
    record = {**json.loads((cell / "status.json").read_text()), **changes}
    del record["checksum"]
    record["files"]["codes.npz"] = checksum(cell / "codes.npz")
    record["environment"].update(environment)
    (cell / "status.json").write_text(json.dumps(add_checksum(record)))


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
