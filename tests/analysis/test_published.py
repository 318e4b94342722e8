"""Printed numbers of a paper of one's own, beside the results."""

from pathlib import Path

import pytest

from hashbench.analysis.published import read_published
from hashbench.cli import main
from hashbench.core.errors import HashbenchError

HEAD = "method,dataset,bits,task,quantity,value\n"


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return stop.value.code


def test_own_numbers_stand_beside_the_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text(HEAD + "edsh,synthetic,8,image->text,AP,0.4321\n")
    data = "synthetic[rows=120,query=30,permutation=0]"
    flags = ("-m", "edsh", "-d", data, "-b", "8", "-s", "1", "-o", "out")
    assert run("run", *flags, "--published", "mine.csv", "--no-report") == 0
    assert run("report", "out", "published", "--format", "csv,md") == 0
    assert "0.4321" in Path("out/report/published.csv").read_text()
    assert 'mine.csv"' in Path("out/study.toml").read_text()


def test_a_description_may_leave_out_what_the_table_says(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(HEAD + "edsh,synthetic,8,image->text,AP,0.4321\n")
    path.with_suffix(".toml").write_text('paper = "Mine 2030"\n')
    found = read_published(path)
    assert (found.paper, found.short) == ("Mine 2030", "mine")
    assert found.quantities == {"AP": {"measure": "AP"}}
    assert found.exhibits == [{"name": "AP", "quantity": "AP"}]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("method,dataset\nedsh,wiki\n", r"mine\.csv.*bits, task, quantity, value"),
        (HEAD + "edsh,wiki,8,image->text,AP,high\n", r"mine\.csv: value\b.*numbers"),
        (HEAD + "edsh,wiki,8,image->text,mAP of ours,0.1\n", "measure.*'mAP of ours'"),
    ],
)
def test_bad_tables_are_refused(tmp_path, text, facts):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(HashbenchError, match=facts):
        read_published(path)
