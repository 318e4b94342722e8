"""Find which protocol and measure give a printed number, over archived and local codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hashbench.analysis.archive import labels, read_archive
from hashbench.analysis.explain import Explanation, explain_numbers, parse_number, printed_in
from hashbench.analysis.number_variants import Reading, Values, readings, readings_of_table
from hashbench.analysis.results import Results
from hashbench.api.study_args import RESULTS
from hashbench.core.errors import HashbenchError
from hashbench.core.validation import listed
from hashbench.execution.plan import FILE
from hashbench.plugins.registry import discover
from hashbench.plugins.selection import bare_name


def explain(
    printed: str | float | Sequence[str | float],
    method: str,
    dataset: str,
    bits: int,
    *,
    task: str | None = None,
    folders: str | Path | Sequence[str | Path] = (),
    archive: str | Path | None = None,
    tolerance: float | None = None,
) -> Explanation:
    """Return which measures, parts of the database, codes and seeds give a printed number.

    Parameters
    ----------
    printed : a number as it is printed, or one per task
    method, dataset, bits : what it belongs to; names match with and without parameters
    task : of a single number; any if None
    folders : folders of results whose codes are tried; those in hashbench-results if empty
    archive : an archive whose scores are tried, too; that of the package if None
    tolerance : largest difference; half a unit of the last printed digit if None
    """
    pairs = [parse_number(str(each)) for each in listed(printed)]
    numbers = [value for value, _ in pairs]
    allowed = max(half for _, half in pairs) if tolerance is None else tolerance
    places = [Path(each) for each in listed(folders)] or _local_folders()
    found = list(_readings(places, method, dataset, bits))
    known = {replace(reading, source="") for reading, _ in found}
    archived = _archived(None if archive is None else Path(archive), method, dataset, bits)
    found += [each for each in archived if replace(each[0], source="") not in known]
    rounding = max(half for _, half in pairs)
    lines = printed_in(numbers, rounding, method, dataset, bits)
    if not found:
        raise HashbenchError(
            f"found no cell of {method} on {dataset} at {bits} bits in the archive"
            f"{''.join(f' and {each}' for each in places)}; compute it: hashbench run -m {method} "
            f"-d {dataset} -b {bits}{''.join(f'; {line}' for line in lines)}"
        )
    return replace(explain_numbers(numbers, found, allowed, task, rounding), printed_in=lines)


def _local_folders() -> list[Path]:
    return sorted(path.parent for path in Path(RESULTS).glob(f"*/{FILE}"))


def _readings(
    folders: Sequence[Path], method: str, dataset: str, bits: int
) -> Iterator[tuple[Reading, Values]]:
    registry = discover()
    for folder in folders:
        results = Results(folder, registry)
        methods = sorted({c.label for c in results.cells if method in _names(c.label)})
        datasets = sorted({c.dataset for c in results.cells if dataset in _names(c.dataset)})
        if methods and datasets and bits in results.bits:
            yield from readings(results.select(methods=methods, datasets=datasets, bits=bits))


def _names(label: str) -> tuple[str, str]:
    return label, bare_name(label)


def _archived(
    folder: Path | None, method: str, dataset: str, bits: int
) -> list[tuple[Reading, Values]]:
    try:
        table = read_archive(folder)
    except HashbenchError:
        if folder is not None:
            raise
        return []  # an installation without an archive
    names = table["dataset"].map(_names).map(lambda both: dataset in both)
    own = table[names & (table["bits"] == bits)]
    own = own[labels(own).map(_names).map(lambda both: method in both).astype(bool)]
    return list(readings_of_table(own, labels(own))) if len(own) else []
