"""``hashbench evaluate``: score codes that somebody else produced."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hashbench.errors import HashbenchError, unknown
from hashbench.measures import DEFAULT_MEASURES, parse_many

if TYPE_CHECKING:
    from hashbench.layouts.variables import Variables
    from hashbench.measures import CodeStatistics, Evaluation

F = TypeVar("F", bound=Callable[..., Any])

#: What the variables are called in files that people exchange; X is B for codes, L for labels.
USUAL_NAMES = {
    "query": "queryX X_query qX qu_X X_te X_test",
    "database": "databaseX X_database dX X_db retrievalX X_retrieval rX re_X X_tr X_train",
}


def _variable_option(role: str) -> Callable[[F], F]:
    flag = "--" + role.replace("_", "-")
    return click.option(flag, role, metavar="NAME", help=f"Variable that holds the {flag[2:]}.")


@click.command("evaluate")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.npz|FILE.mat")
@_variable_option("query_codes")
@_variable_option("database_codes")
@_variable_option("query_labels")
@_variable_option("database_labels")
@click.option("-b", "--bits", type=int, help="Number of bits, for codes packed into bytes.")
@click.option("--measures", default=",".join(DEFAULT_MEASURES), metavar="NAMES", show_default=True)
@click.option("--per-query", type=click.Path(path_type=Path), help="CSV to write, a row a query.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, curves included.")
def evaluate_command(
    file: Path,
    bits: int | None,
    measures: str,
    per_query: Path | None,
    as_json: bool,
    **named: str | None,
) -> None:
    """Score codes from elsewhere: any measure, the interval that ties leave open, and chance.

    FILE holds the codes of queries and database (0/1, -1/+1, or bytes with --bits) and their
    labels (0/1 a class, or class numbers), under the usual names or those given.
    """
    wanted = parse_many(measures)
    from hashbench.layouts.variables import Variables
    from hashbench.measures import code_statistics, evaluate_ranking, hamming_ranking

    variables = Variables([file])
    arrays = {role: _read(variables, role, name, file) for role, name in named.items()}
    ranking = hamming_ranking(**arrays, n_bits=bits)
    result = evaluate_ranking(
        ranking, wanted, bounds=True, chance=True, per_query=per_query is not None
    )
    codes = code_statistics(ranking.database_words, ranking.n_bits, ranking.database_labels)
    if per_query is not None:
        _write_per_query(result, per_query)
    about = {"queries": ranking.n_queries, "database": ranking.n_database, "bits": ranking.n_bits}
    if as_json:
        click.echo(json.dumps(_record(about, result, codes), indent=2))
    else:
        click.echo(_table(about, result, codes))


def _read(variables: Variables, role: str, name: str | None, file: Path) -> Any:
    """Return the array that plays a role, by its given or by a usual name."""
    if name is not None:
        if name not in variables:
            raise unknown(f"variable in {file.name}", name, variables)
        return variables[name].read()
    part, kind = role.split("_")
    letter = {"codes": "B", "labels": "L"}[kind]
    usual = f"{role} {USUAL_NAMES[part].replace('X', letter)}".lower().split()
    found = [each for each in variables if each.lower() in usual]
    if len(found) == 1:
        return variables[found[0]].read()
    flag = "--" + role.replace("_", "-")
    raise HashbenchError(
        f"{file.name}: found {' and '.join(found) or 'no variable'} for the {flag[2:]}; "
        f"say which with {flag} NAME, one of: {variables}"
    )


def _table(about: Mapping[str, int], result: Evaluation, codes: CodeStatistics) -> str:
    width = max([len(name) for name in result] + [7])
    lines = [
        "{queries} queries, {database} items, {bits} bits".format(**about),
        f"{'measure':{width}}    value   lowest  highest   chance",
    ]
    for name, score in result.scores.items():
        numbers = (score.value, *(score.bounds or (None, None)), score.chance)
        lines.append(f"{name:{width}}" + "".join(_cell(number) for number in numbers))
    if result.curves:
        lines.append(f"curves, with --json: {', '.join(result.curves)}")
    empty = {score.n_empty for score in result.scores.values()} - {0}
    if empty:
        lines.append(f"queries without a relevant item: {' or '.join(map(str, sorted(empty)))}")
    correlation = "" if codes.correlation is None else f", correlation {codes.correlation:.3f}"
    lines.append(
        f"database codes: {codes.distinct} distinct, {codes.constant} bits constant, "
        f"imbalance {codes.imbalance:.3f}{correlation}; {codes.collisions} pairs collide, "
        f"{codes.collisions_apart} of them without a common label"
    )
    return "\n".join(lines)


def _cell(number: float | None) -> str:
    return f"{'-' if number is None else format(number, '.4f'):>9}"


def _record(about: Mapping[str, int], result: Evaluation, codes: CodeStatistics) -> dict[str, Any]:
    return {
        **about,
        "measures": {
            name: {
                "value": _number(score.value),
                "bounds": score.bounds and [_number(bound) for bound in score.bounds],
                "chance": _number(score.chance),
                "n_counted": score.n_counted,
                "n_empty": score.n_empty,
            }
            for name, score in result.scores.items()
        },
        "curves": {
            name: {
                curve.axis: curve.x.tolist(),
                "precision": [_number(value) for value in curve.precision],
                "recall": [_number(value) for value in curve.recall],
            }
            for name, curve in result.curves.items()
        },
        "database_codes": asdict(codes),
    }


def _number(value: Any) -> float | None:
    """Return a number as JSON has it, which knows no nan."""
    return None if value is None or value != value else float(value)


def _write_per_query(result: Evaluation, path: Path) -> None:
    columns = {name: score.per_query for name, score in result.scores.items()}
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["query", *columns])
        rows = zip(*(values for values in columns.values() if values is not None), strict=True)
        for query, values in enumerate(rows):
            writer.writerow([query, *("" if v != v else repr(float(v)) for v in values)])
