"""The exact words of the messages that users see most often.

This is the one file to edit when wording changes. All other tests assert values, types and named
fields.
"""

import shlex

import numpy as np
import pytest

#: Command -> the line that it prints after ``hashbench: ``; {folder} is the current folder.
MESSAGES = {
    # selections of methods and datasets
    "run -m edhs": (
        "unknown method 'edhs'; did you mean 'edsh'? (a method of your own needs --plugin FILE)"
    ),
    "run -m 'edsh[gama=1]'": "unknown parameter of edsh 'gama'; did you mean 'gamma'?",
    "run -m 'edsh[gamma=x]'": "parameter gamma of edsh: found 'x'; allowed: numbers",
    "run -m 'edsh[gamma=-1]'": ("parameter gamma of edsh: found -1.0; allowed: numbers from 0 up"),
    "run -m 'edsh[iterations=0.5]'": (
        "parameter iterations of edsh: found 0.5; allowed: whole numbers from 1 up"
    ),
    "run -m 'edsh[rotation=none]'": (
        "parameter rotation of edsh: found None; allowed: exact, printed"
    ),
    "run -m 'edsh[gamma=1'": "selection 'edsh[gamma=1': brackets do not match",
    "run -m 'zz*'": "no method matches 'zz*'; `hashbench list methods` names them",
    "run -m cca -d synthetc": (
        "unknown dataset 'synthetc'; did you mean 'synthetic', 'synthetic-wiki' or "
        "'synthetic-nuswide'? (a dataset of your own needs --plugin FILE)"
    ),
    "run -m cca -d gone.mat": "dataset 'gone.mat': no file or folder 'gone.mat'",
    "run --plugin gone.py": (
        "plugin path '{folder}/gone.py' does not exist; allowed: a file or folder"
    ),
    # flags and study files
    "run -b many": "the flags: bits: found 'many'; allowed: whole numbers from 1 to 4096",
    "run -j 0": "the flags: jobs: found '0'; allowed: a whole number from 1 to 1024",
    "run -s 0": (
        "the flags: seeds: found '0'; allowed: how many seeds, 1 to 1000; or which ones, from 0 "
        "up, as in 3,5 or 3,"
    ),
    "run --timeout soon": (
        "the flags: timeout: found 'soon'; allowed: durations like 90s, 10m or 1h30m"
    ),
    "run --memory much": "the flags: memory: found 'much'; allowed: sizes like 512M or 8G",
    "run --executor slurm": "the flags: unknown executor 'slurm'; allowed: dask, local",
    "run --retry broken": (
        "unknown status 'broken'; allowed: done, failed, memory, skipped, timeout"
    ),
    "run quik": "unknown study 'quik'; did you mean 'quick'?",
    "run gone.toml": "study file 'gone.toml' does not exist",
    "run key.toml": "study 'key.toml': unknown key 'method'; did you mean 'methods'?",
    # measures
    "run --measures ndgc": "the flags: unknown measure 'ndgc'; did you mean 'nDCG'?",
    "run --measures AP@100": (
        "the flags: measure 'AP@100': say what it is divided by; AP(norm=retrieved)@100: by the "
        "relevant items among the first 100; AP(norm=all)@100: by all relevant items"
    ),
    "run --measures P": (
        "the flags: measure 'P': takes either a cutoff or a radius; write P@100 or P(radius=2)"
    ),
    "run --measures 'R(relevant=pair)@1'": (
        "the flags: measure 'R(relevant=pair)@1' needs each query's partner in the database, which "
        "holds no query of a study; use hashbench.evaluate(..., pairs=positions)"
    ),
    "run --measures 'AP(ties=random)'": (
        "the flags: measure 'AP(ties=random)': found ties=random; allowed: expected, index, "
        "optimistic, pessimistic"
    ),
    # folders of results
    "status empty": "empty: found nothing; allowed: a folder made by hashbench run",
    "verify empty": "empty: found no results; allowed: a folder made by hashbench run",
    "run -m cca -d synthetic -o /dev/null": (
        "/dev/null cannot be a folder of results: /dev/null/cells: Not a directory"
    ),
    # plugins
    "show edhs": "unknown plugin or study 'edhs'; did you mean 'edsh'?",
    "list method": "unknown listing 'method'; did you mean 'methods'?",
    "new thing x": "unknown kind of plugin 'thing'; allowed: dataset, method, report",
    "new method Bad_Name": (
        "plugin name 'Bad_Name': allowed: small letters, digits and hyphens, a letter first"
    ),
    # datasets
    "data describe wiki": (
        "wiki: wiki/wiki_data.mat is not in {folder}/data or {folder}/cache/hashbench; "
        "`hashbench data fetch wiki` downloads it"
    ),
    "data describe 'synthetic[rows=0]'": "rows: found 0; allowed: whole numbers from 1 up",
    "data describe 'synthetic[rows=1]'": (
        "split: found 0 queries of 1 rows; at least one query and one other row"
    ),
    "data describe 'synthetic[protocol=defalt]'": (
        "unknown protocol of synthetic 'defalt'; did you mean 'default'?"
    ),
    "data describe rows.npz": (
        "rows.npz: found image 12 x 6 float64, text 11 x 4 float64, labels 12 int64; all three "
        "must have the same number of rows"
    ),
    "data describe nan.npz": (
        "nan.npz: image: found nan in row 7, column 2; allowed: finite numbers"
    ),
    "data describe unknown.npz": (
        "unknown.npz: layout unknown; found a (12 x 6 float64), b (12 x 4 float64), c (12 int64); "
        'name the variables: -d "unknown.npz[image=NAME,text=NAME,labels=NAME]", or for more views '
        "[views=NAME+NAME+NAME,labels=NAME]"
    ),
    "data describe short.npz": (
        "short.npz: cannot be read (File is not a zip file); allowed: complete files of .mat, "
        ".h5, .hdf5, .h5py, .npz, .npy, .parquet, .pkl, .pickle, .csv, .tsv, .txt"
    ),
    # codes of others
    "evaluate gone.npz": "file 'gone.npz' does not exist",
    "evaluate unknown.npz": (
        "unknown.npz: found no variable for the query codes; say which with --query-codes NAME, "
        "one of: a (12 x 6 float64), b (12 x 4 float64), c (12 int64)"
    ),
    "evaluate codes.npz": (
        "codes: found 6 bits for queries and 5 for the database; must be equal; items are rows"
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an empty folder, a wrong study file and files of wrong data."""
    folder = tmp_path_factory.mktemp("wording")
    (folder / "empty").mkdir()
    (folder / "key.toml").write_text('method = "edsh"\n')
    image, text, labels = np.ones((12, 6)), np.ones((12, 4)), np.arange(12) % 3
    np.savez(folder / "rows.npz", image=image, text=text[:11], labels=labels)
    np.savez(folder / "unknown.npz", a=image, b=text, c=labels)
    codes = image > 0
    np.savez(folder / "codes.npz", qB=codes, rB=codes[:, :5], qL=labels, rL=labels)
    image[7, 2] = np.nan
    np.savez(folder / "nan.npz", image=image, text=text, labels=labels)
    (folder / "short.npz").write_bytes((folder / "nan.npz").read_bytes()[:100])
    return folder


@pytest.mark.parametrize("command", MESSAGES)
def test_mistakes(command, hashbench, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HASHBENCH_DATA", str(folder / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    done = hashbench(*shlex.split(command))
    assert done.stderr == f"hashbench: {MESSAGES[command]}\n".replace("{folder}", str(folder))
    assert (done.returncode, done.stdout) == (2, "")


def test_a_broken_plugin(hashbench, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import nothing_of_that_name\n")
    done = hashbench("list", "reports", "--plugin", path)
    reason = "ModuleNotFoundError: No module named 'nothing_of_that_name' (line 1)"
    assert done.stderr == f"broken plugin {path}: {reason}\n"


#: Command on a folder of results with two methods and a failed cell -> what it prints.
ON_RESULTS = {
    "status {out}": (
        "3 cells: 2 done, 1 failed\n"
        "status  cell                           reason\n"
        "failed  edsh at 2 bits on toy, seed 1  ValueError: no\n"
    ),
    "report {out} nothing": "hashbench: unknown report 'nothing'; did you mean 'tuning'?\n",
    "report {out} --format gif": (
        "hashbench: unknown format 'gif'; allowed: csv, md, pdf, png, svg, tex\n"
    ),
    "report {out} --bits x": "hashbench: bits: found 'x'; allowed: whole numbers, as 16,32\n",
    "report {out} scaling": (
        "scaling: nothing to show: one size of each dataset; set rows or train_rows differently\n"
        "in {out}/report\n"
    ),
    "compare edsh cc --on {out}": "hashbench: unknown method 'cc'; did you mean 'cca'?\n",
}


@pytest.mark.parametrize("command", ON_RESULTS)
def test_folders_of_results(command, hashbench, hand_made, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    hand_made.add(method="edsh", database=("00", "00", "11", "11"))
    hand_made.add(method="cca", database=("11", "11", "00", "00"))
    hand_made.add(method="edsh", seed=1, bits=2, status="failed", reason="ValueError: no")
    hand_made.results()
    out = str(hand_made.path)
    done = hashbench(*shlex.split(command.replace("{out}", out)))
    assert done.stdout + done.stderr == ON_RESULTS[command].replace("{out}", out)


def test_a_plan(hashbench, tmp_path):
    out = tmp_path / "out"
    done = hashbench("run", "-m", "cca,edsh", "-d", "synthetic[rows=60]", "-o", out, "--plan")
    assert done.stdout == (
        "synthetic[rows=60]: 16 bits, seeds 0\n"
        "  cca      1 cell,    1 to run\n"
        "  edsh     1 cell,    1 to run\n"
        "limits of a cell: time none, memory none, 1 thread\n"
        f"2 cells; in {out}: nothing yet; 2 to run\n"
    )


def test_a_new_method(hashbench, tmp_path):
    path = tmp_path / "mine.py"
    assert hashbench("new", "method", "mine", "-o", path).stdout == (
        f"wrote {path}; next:\n"
        f"  hashbench check {path}\n"
        f"  hashbench run --plugin {path} -m mine,edsh,random\n"
    )
