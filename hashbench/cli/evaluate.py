"""``hashbench evaluate``: score codes that somebody else produced."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hashbench.core.errors import HashbenchError
from hashbench.core.units import json_number
from hashbench.measures import DEFAULT_MEASURES, Measure, parse_many

if TYPE_CHECKING:
    from hashbench.measures import CodeStatistics, Evaluation

F = TypeVar("F", bound=Callable[..., Any])


def _variable_option(role: str) -> Callable[[F], F]:
    flag = "--" + role.replace("_", "-")
    words = role.replace("_", " ")
    return click.option(flag, role, metavar="NAME", help=f"Variable that holds the {words}.")


@click.command("evaluate")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.npz|FILE.mat")
@_variable_option("query_codes")
@_variable_option("database_codes")
@_variable_option("query_labels")
@_variable_option("database_labels")
@click.option("-b", "--bits", type=int, help="Number of bits, for codes packed into bytes.")
@click.option(
    "--split",
    type=click.Path(path_type=Path),
    help="File of `hashbench data export` with the labels.",
)
@click.option(
    "--measures",
    default=",".join(DEFAULT_MEASURES),
    metavar="NAMES",
    help="Names separated by commas, see `hashbench list measures`; "
    "AP, AP(norm=retrieved,ties=index)@100, P@100 and the curves if not given.",
)
@click.option(
    "--per-query", type=click.Path(path_type=Path), help="CSV to write, one row per query."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, curves included.")
def evaluate_command(
    file: Path,
    bits: int | None,
    split: Path | None,
    measures: str,
    per_query: Path | None,
    as_json: bool,
    **named: str | None,
) -> None:
    """Score codes that were computed elsewhere: measures, their range over orders of ties, chance.

    FILE holds the codes of queries and database (0/1, -1/+1, or bytes with --bits) and their
    labels (0/1 per class, or class numbers), one row per item. Variables are found by usual names
    (query_codes, qB, B_te, ...; database_codes, rB, B_tr, ...; query_labels, qL, L_te, ...) or
    by those given. Codes of two views (qB_img, qB_txt, rB_img, rB_txt, ...) are scored in both
    tasks. The codes.npz of a cell of `hashbench run` is scored by the labels in that folder.
    """
    wanted = parse_many(measures)
    if not wanted:
        raise HashbenchError(f"--measures: found {measures!r}; allowed: one name at least")
    from hashbench.data.isolated_reading import load_codes

    said, tasks = load_codes(file, named, split)
    found = {
        task: _score_task(
            arrays, roles, wanted, said if bits is None else bits, per_query is not None
        )
        for task, (roles, arrays) in tasks.items()
    }
    if per_query is not None:
        _write_per_query({task: scored.result for task, scored in found.items()}, per_query)
    if as_json:
        records = {task: scored.record() for task, scored in found.items()}
        click.echo(json.dumps(records.get("", records), indent=2))
    else:
        click.echo("\n\n".join(scored.table(task) for task, scored in found.items()))


@dataclass(frozen=True)
class Scored:
    """One task, scored.

    Attributes
    ----------
    about : sizes by what they count
    roles : role -> the variable that played it
    result, codes : what was measured, and what the database codes are like
    """

    about: Mapping[str, int]
    roles: Mapping[str, str]
    result: Evaluation
    codes: CodeStatistics

    def table(self, task: str) -> str:
        """Return lines for a terminal."""
        width = max([len(name) for name in self.result] + [7])
        lines = [
            (f"{task}: " if task else "")
            + "{queries} queries, {database} items, {bits} bits".format(**self.about),
            "codes {query_codes} and {database_codes}, labels {query_labels} and "
            "{database_labels}".format(**self.roles),
            f"{'measure':{width}}    value   lowest  highest   chance",
        ]
        for name, score in self.result.scores.items():
            numbers = (score.value, *(score.bounds or (None, None)), score.chance)
            lines.append(f"{name:{width}}" + "".join(_number_text(number) for number in numbers))
        if self.result.curves:
            lines.append(f"curves, with --json: {', '.join(self.result.curves)}")
        empty = {score.n_empty for score in self.result.scores.values()} - {0}
        if empty:
            lines.append(f"queries without a relevant item: {' or '.join(map(str, sorted(empty)))}")
        return "\n".join([*lines, *self._code_lines()])

    def _code_lines(self) -> Iterator[str]:
        codes = self.codes
        yield f"database codes: {codes.distinct} distinct, {codes.constant} bits constant"
        correlation = "" if codes.correlation is None else f", correlation {codes.correlation:.3f}"
        yield f"  bits: imbalance {codes.imbalance:.3f}{correlation} (means)"
        yield (
            f"  items: {codes.collisions} pairs collide, "
            f"{codes.collisions_apart} of them without a common label"
        )

    def record(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            **self.about,
            "variables": dict(self.roles),
            "measures": {
                name: {
                    "value": json_number(score.value),
                    "bounds": score.bounds and [json_number(bound) for bound in score.bounds],
                    "chance": json_number(score.chance),
                    "n_counted": score.n_counted,
                    "n_empty": score.n_empty,
                }
                for name, score in self.result.scores.items()
            },
            "curves": {
                name: {
                    curve.axis: curve.x.tolist(),
                    "precision": [json_number(value) for value in curve.precision],
                    "recall": [json_number(value) for value in curve.recall],
                }
                for name, curve in self.result.curves.items()
            },
            "database_codes": asdict(self.codes),
        }


def _score_task(
    arrays: Mapping[str, Any],
    roles: Mapping[str, str],
    measures: list[Measure],
    bits: int | None,
    per_query: bool,
) -> Scored:
    from hashbench.measures import code_statistics, evaluate_ranking, hamming_ranking

    ranking = hamming_ranking(**arrays, n_bits=bits)
    return Scored(
        {"queries": ranking.n_queries, "database": ranking.n_database, "bits": ranking.n_bits},
        roles,
        evaluate_ranking(ranking, measures, bounds=True, chance=True, per_query=per_query),
        code_statistics(ranking.database_words, ranking.n_bits, ranking.database_labels),
    )


def _number_text(number: float | None) -> str:
    return f"{'-' if number is None else format(number, '.4f'):>9}"


def _write_per_query(results: Mapping[str, Evaluation], path: Path) -> None:
    """Write the values of all queries, of all tasks one after the other."""
    several = "" not in results
    try:
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream)
            measures = next(iter(results.values())).scores
            writer.writerow([*(["task"] if several else []), "query", *measures])
            for task, result in results.items():
                columns = [score.per_query for score in result.scores.values()]
                rows = zip(*(values for values in columns if values is not None), strict=True)
                for query, values in enumerate(rows):
                    numbers = ("" if v != v else repr(float(v)) for v in values)
                    writer.writerow([*([task] if several else []), query, *numbers])
    except OSError as error:
        raise HashbenchError(f"--per-query {str(path)!r}: {error.strerror}") from error
