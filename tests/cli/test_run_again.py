"""A run into a folder that has results already."""

import pandas as pd


def test_another_study_in_the_folder_is_refused(hashbench, tmp_path):
    out = tmp_path / "out"

    def run(methods, bits, *flags):
        grid = ["-m", methods, "-d", "synthetic[rows=200]", "-b", bits, "-s", "1"]
        return hashbench("run", *grid, "--quiet", "--no-report", "-j", "1", "-o", out, *flags)

    def methods():
        return set(pd.read_csv(out / "results.csv").method)

    assert run("cca,random", "8").returncode == 0
    refused = run("cca", "8,16")
    assert refused.returncode == 2
    assert "--replace" in refused.stderr
    assert methods() == {"cca", "random"}
    assert run("cca", "8,16", "--replace").returncode == 0
    assert methods() == {"cca"}
    assert run("cca,random", "8,16").returncode == 0  # it has all cells of the other
    assert methods() == {"cca", "random"}
