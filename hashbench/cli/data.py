"""``hashbench data``: download, check, describe, convert and export datasets."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from hashbench.cli import find_plugins, plugin_option
from hashbench.cli.embed import embed_command
from hashbench.core.errors import HashbenchError
from hashbench.core.units import format_count
from hashbench.execution.grid import DataChoice, select_datasets
from hashbench.execution.study import Study
from hashbench.plugins.dataset import Dataset


@click.group("data")
def data_command() -> None:
    """Download, check and describe datasets."""


data_command.add_command(embed_command)


@data_command.command("fetch")
@click.argument("name")
@plugin_option
def fetch_command(name: str, plugins: tuple[str, ...]) -> None:
    """Download the files that are missing."""
    from hashbench.plugins.downloads import fetch

    dataset = _find_dataset(name, plugins)[1]
    if not dataset.files:
        click.echo(f"{dataset.name}: nothing to download")
    missing: list[HashbenchError] = []
    for file in dataset.files:
        if file.content:
            click.echo(f"{file.path}: {file.content}")
        try:
            path = fetch(file, dataset.name, progress=sys.stderr.isatty())
        except HashbenchError as error:
            missing.append(error)  # the other files may still be available
        else:
            click.echo(f"{file.path}: {path}")
    if missing:
        raise HashbenchError("; ".join(map(str, missing)))


@data_command.command("check")
@click.argument("name")
@plugin_option
def check_command(name: str, plugins: tuple[str, ...]) -> None:
    """Compare files with their checksums."""
    from hashbench.plugins.downloads import check, find

    dataset = _find_dataset(name, plugins)[1]
    if not dataset.files:
        click.echo(f"{dataset.name}: no files to check")
    wrong = 0
    for file in dataset.files:
        status = check(file)
        wrong += status in ("missing", "wrong checksum")
        click.echo(f"{file.path}: {status}" + (f" ({path})" if (path := find(file)) else ""))
    if wrong:
        count = format_count(wrong, "file")
        raise HashbenchError(f"{dataset.name}: found {count} missing or wrong; allowed: none")


@data_command.command("describe")
@click.argument("name", metavar="NAME-OR-FILE")
@click.option(
    "-s",
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the split.",
)
@click.option("-o", "--output", type=Path, help="Draw a page into this file (pdf, svg, png).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plugin_option
def describe_command(
    name: str, seed: int, output: Path | None, as_json: bool, plugins: tuple[str, ...]
) -> None:
    """Print sizes, labels, splits, chance, copies.

    NAME-OR-FILE is what `run -d` takes: wiki, wiki[protocol=paper], name=file.mat.
    """
    from hashbench.data import isolated_reading
    from hashbench.data.description import describe
    from hashbench.render.dataset_panels import draw_dataset

    choice, dataset = _find_dataset(name, plugins)
    data = isolated_reading.load(dataset)
    description = describe(dataset, data, choice.protocol, seed, choice.preprocess)
    if as_json:
        click.echo(json.dumps(asdict(description), indent=2))
    else:
        click.echo(description.as_text())
    if output is not None:
        split = dataset.split(data, choice.protocol, seed)
        draw_dataset(description, dataset, data, split, output)
        click.echo(f"picture: {output}", err=as_json)


@data_command.command("convert")
@click.argument("name", metavar="NAME-OR-FILE")
@click.argument("output", type=click.Path(path_type=Path), metavar="OUT.npz|OUT.mat")
@plugin_option
def convert_command(name: str, output: Path, plugins: tuple[str, ...]) -> None:
    """Write a dataset under hashbench's own names: image, text, labels.

    NAME-OR-FILE is what `run -d` takes. A split that comes with the data is written too.
    """
    from hashbench.data import isolated_reading
    from hashbench.data.export import write_data

    dataset = _find_dataset(name, plugins)[1]
    data = isolated_reading.load(dataset)
    write_data(data, output)
    views = ", ".join(
        f"{view} {X.shape[1]}" for view, X in zip(data.view_names, data.views, strict=True)
    )
    click.echo(f"{output}: {data.n_rows:,} rows; {views}; {data.labels.shape[1]} classes")


@data_command.command("export")
@click.argument("name", metavar="NAME-OR-FILE")
@click.option(
    "-s", "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder to write into."
)
@plugin_option
def export_command(name: str, seed: int, output: Path, plugins: tuple[str, ...]) -> None:
    """Write a split for training elsewhere: preprocessed features, labels, row numbers.

    DATASET-SEED.npz and .mat hold the views, the labels, the rows train, query and database
    (counted from first_row) and the name of the split. Put that name, split, into the file with
    your codes, so that `run -m NAME=FILE` can check them.
    """
    from hashbench.data.export import export_split

    choice, dataset = _find_dataset(name, plugins)
    output.mkdir(parents=True, exist_ok=True)
    files, split = export_split(
        dataset, choice.protocol, choice.preprocess, seed, output / f"{choice.name}-{seed}"
    )
    sizes = f"train {len(split.train):,}, query {len(split.query):,}"
    click.echo(f"{', '.join(map(str, files))}: {sizes}, database {len(split.database):,}")


def _find_dataset(text: str, plugins: tuple[str, ...]) -> tuple[DataChoice, Dataset]:
    """Return the choice and the dataset of a selection of one dataset."""
    registry = find_plugins(plugins)
    chosen = select_datasets(Study(datasets=(text,)), registry)
    if len(chosen) != 1:
        names = ", ".join(choice.label for choice in chosen)
        raise HashbenchError(f"dataset {text!r}: found {len(chosen)} ({names}); allowed: one")
    return chosen[0], chosen[0].spec.make(registry)
