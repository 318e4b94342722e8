"""Rank a method among all methods of the archive; only that method is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hashbench.analysis import archive as stored
from hashbench.analysis.ranking import COLUMNS, rank_among
from hashbench.api.archive import is_embedded
from hashbench.api.run import run
from hashbench.api.study_args import RESULTS
from hashbench.core.errors import HashbenchError, unknown
from hashbench.core.parallel import usable_cores
from hashbench.core.units import format_count, format_duration
from hashbench.core.validation import listed
from hashbench.measures import parse
from hashbench.plugins.registry import discover
from hashbench.plugins.selection import TUNED, bare_name
from hashbench.render.rank_table import rank_tables

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

#: How many points a tuned method is tried at, as in the study archive-tuned.
TRIALS = 16

#: Seconds that a run takes to start, and that a cell takes besides training: measured on two cores.
START, BESIDES = 6.0, 0.7

#: How files of codes in a folder are named.
CODES = "{dataset}-{bits}-{seed}.npz"


@dataclass(frozen=True, eq=False)
class MethodRanking:
    """A method among those of the archive.

    Attributes
    ----------
    table : see `hashbench.analysis.ranking.rank_among`
    own : labels of the rows of the method; the others are compared with the first
    title : what the scores are, and the edition of the archive
    """

    table: pd.DataFrame
    own: Sequence[str]
    title: str

    def text(self, everything: bool = False) -> str:
        """Return one table per dataset and code length."""
        return rank_tables(self.table, self.own, self.title, everything)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


def rank(
    method: Any,
    datasets: str | Sequence[str] = (),
    bits: int | Sequence[int] = (16, 32),
    *,
    tuned: bool = False,
    measure: str = "AP",
    archive: str | Path | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    quiet: bool = False,
    tell: Callable[[str], None] | None = None,
) -> MethodRanking:
    """Train a method on the archive's splits and return its place among the archive's methods.

    Parameters
    ----------
    method : a class, an object, a selection such as ``edsh[gamma=1]``, a Python file with one
        method, a folder of codes named ``{dataset}-{bits}-{seed}.npz``, or ``NAME=PATTERN`` for
        codes elsewhere
    datasets : datasets of the archive; those inside the package if empty
    bits : code length or list of code lengths
    tuned : tune it with 16 points, and compare it with tuned methods where there are any
    measure : a measure of the archive
    archive : an archive that `hashbench archive pack` wrote; that of the package if None
    out : folder of the results; if None, one in hashbench-results named after the method
    jobs : number of cells at once
    quiet : show no progress
    tell : called with a line about what is trained and how long it may take
    """
    given, plugins = _given(method)
    table = stored.read_archive(None if archive is None else Path(archive))
    stored.check_version(table)
    lengths = [int(each) for each in listed(bits)]
    rows = _select(table, _datasets(table, listed(datasets), lengths), lengths, tuned, measure)
    seeds = _seeds(rows)
    names = list(dict.fromkeys(rows["dataset"]))
    if tell is not None:
        tell(_expected(rows, len(seeds), tuned, jobs or usable_cores()))
    folder = Path(RESULTS) / f"rank-{_file_name(given)}" if out is None else Path(out)
    results = run(
        given, names, lengths, seeds, plugins=plugins, out=folder, measures=measure, quiet=quiet,
        replace=True, jobs=jobs, tune=TRIALS if tuned else None,
    )  # fmt: skip
    own = _own_rows(results, rows, measure)
    labels = sorted(set(own["label"]), key=lambda label: not label.endswith(TUNED))
    others = rows[~rows["label"].isin(labels)]
    import pandas as pd

    joined = pd.concat([others[COLUMNS], own[COLUMNS]], ignore_index=True)
    searched = f"{rows['database'].iloc[0]} database, encoded codes"
    title = f"archive {table['edition'].iloc[0]}, {parse(measure)}, {searched}"
    return MethodRanking(rank_among(joined, labels[0]), labels, title)


def _given(method: Any) -> tuple[Any, list[str]]:
    """Return what `run` takes as methods, and the plugins it needs."""
    if not isinstance(method, str | Path):
        return method, []
    path = Path(method)
    if path.is_dir():
        return f"{path.resolve().name}={path / CODES}", []
    if path.suffix != ".py":
        return str(method), []
    if not path.is_file():
        raise HashbenchError(f"{path}: found no such file; allowed: a file with a method")
    registry = discover([path])
    own = [name for name, each in registry.methods.items() if each.path.resolve() == path.resolve()]
    if len(own) != 1:
        broken = [each.error for each in registry.broken if Path(each.path) == path.resolve()]
        reason = broken[0] if broken else f"found {', '.join(own) or 'no method'}"
        raise HashbenchError(f"{path}: {reason}; allowed: a file with one method")
    return own[0], [str(path)]


def _file_name(given: Any) -> str:
    """Return a name for the folder of results."""
    text = given if isinstance(given, str) else str(getattr(given, "name", "method"))
    return "".join(each if each.isalnum() or each in "-." else "-" for each in text.split("=")[0])


def _datasets(table: pd.DataFrame, names: Sequence[str], bits: Sequence[int]) -> list[str]:
    """Return the archive's datasets of some names, with or without their protocol.

    All must have the code lengths. Without names: the datasets inside the package that do.
    """
    lengths = {
        str(name): sorted(map(int, found))
        for name, found in table.groupby("dataset", sort=False)["bits"].unique().items()
    }
    registry = discover()
    if names:
        found = [each for name in names for each in lengths if name in (each, bare_name(each))]
        for name in names:
            if not any(name in (each, bare_name(each)) for each in lengths):
                raise unknown("dataset of the archive", name, lengths)
    else:
        inside = {name for name, plugin in registry.datasets.items() if is_embedded(plugin)}
        found = [name for name in lengths if bare_name(name) in inside]
    complete = [name for name in found if set(bits) <= set(lengths[name])]
    if not complete or (names and complete != found):
        wrong = next(name for name in found if name not in complete)
        missing = next(each for each in bits if each not in lengths[wrong])
        allowed = ", ".join(map(str, lengths[wrong]))
        raise HashbenchError(f"bits: found {missing}; allowed on {wrong}: {allowed}")
    return complete


def _select(
    table: pd.DataFrame, datasets: Sequence[str], bits: Sequence[int], tuned: bool, measure: str
) -> pd.DataFrame:
    """Return the rows that a method is compared with."""
    name = str(parse(measure))
    if name not in set(table["measure"]):
        raise unknown("measure of the archive", name, sorted(set(table["measure"])))
    chosen = table[(table["measure"] == name) & table["dataset"].isin(datasets)]
    chosen = stored.shown(chosen[chosen["bits"].isin(bits)])
    if tuned:  # a tuned method replaces the one with defaults
        key = chosen["dataset"] + " " + chosen["method"]
        replaced = ~chosen["tuned"] & key.isin(set(key[chosen["tuned"]]))
        chosen = chosen[~replaced]
    else:
        chosen = chosen[~chosen["tuned"]]
    return chosen.assign(label=stored.labels(chosen))


def _seeds(rows: pd.DataFrame) -> list[int]:
    """Return the seeds that at least half of the methods have; all if there are none."""
    cells = rows.drop_duplicates(["dataset", "bits", "label", "seed"])
    counts = cells.groupby("seed").size()
    methods = rows.drop_duplicates(["dataset", "bits", "label"]).shape[0]
    common = counts[counts >= methods / 2]
    return sorted(int(seed) for seed in (common if len(common) else counts).index)


def _expected(rows: pd.DataFrame, seeds: int, tuned: bool, jobs: int) -> str:
    """Say what is trained and how long it takes if it is like the archive's median method."""
    cells = len(rows.drop_duplicates(["dataset", "bits", "seed"]))
    fits = rows.drop_duplicates("cell").groupby("label")["fit_seconds"].sum()
    points = 1 + (TRIALS / rows["bits"].nunique() if tuned else 0)
    seconds = START + (float(fits.median()) + BESIDES * cells) * points / jobs
    what = f"{format_count(cells, 'cell')} on {', '.join(dict.fromkeys(rows['dataset']))}"
    return (
        f"training {what}, {format_count(seeds, 'split')}: about {format_duration(seconds)} for a "
        "method as fast as the archive's median"
    )


def _own_rows(results: Results, rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the scores of the method in the columns of the archive; its splits must be equal."""
    done = {each.cell.key: each for each in results.done()}
    if not done:
        reasons = [str(reason) for reason in results.runs()["reason"] if reason]
        raise HashbenchError(f"no cell is done: {reasons[0] if reasons else 'unknown'}")
    for each in results.done():
        of_seed = rows[(rows["dataset"] == each.cell.dataset) & (rows["seed"] == each.cell.seed)]
        if set(of_seed["split"]) != {each.cell.split}:
            raise HashbenchError(
                f"{each.cell.dataset}, seed {each.cell.seed}: found split {each.cell.split}; "
                f"allowed: that of the archive, {', '.join(sorted(set(of_seed['split'])))}"
            )
    scores = results.shown().scores(measure).rename(columns={"method": "label"})
    wrong = set(scores["database"]) - set(rows["database"])
    if wrong:
        raise HashbenchError(
            f"found codes of the database {wrong.pop()!r}; allowed: {rows['database'].iloc[0]!r}. "
            "Codes must say which split they belong to: see `hashbench data export`"
        )
    records = {(s.cell.dataset, s.cell.label, s.cell.bits, s.cell.seed): s for s in done.values()}
    keys = scores[["dataset", "label", "bits", "seed"]].itertuples(index=False, name=None)
    own = [records[key] for key in keys]
    overlaps = rows.groupby("dataset")["overlap"].max()
    return scores.assign(
        split=[each.cell.split for each in own],
        fit_seconds=[each.record.seconds.get("fit", float("nan")) for each in own],
        item_bytes=[float(each.record.item_bytes or 0) for each in own],
        hamming=[bool(each.record.hamming) for each in own],
        overlap=scores["dataset"].map(overlaps),
    )
