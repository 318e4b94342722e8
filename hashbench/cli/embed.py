"""``hashbench data embed``: from pictures and sentences to a dataset file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

SHOWN = 5  # pictures that could not be read


@click.command("embed")
@click.argument("source", type=click.Path(path_type=Path), metavar="PAIRS.csv|FOLDER")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="The .npz file to write."
)
@click.option("--image", default="gradients", show_default=True, help="Encoder of the pictures.")
@click.option("--text", default="bow", show_default=True, help="Encoder of the texts.")
@click.option(
    "--batch-size", type=click.IntRange(min=1), default=32, show_default=True, help="Items at once."
)
@click.option("--thumbnails", is_flag=True, help="Store small pictures, which the page shows.")
def embed_command(
    source: Path, output: Path, image: str, text: str, batch_size: int, thumbnails: bool
) -> None:
    """Compute features of pictures and texts, and write them with labels.

    The source is a CSV or parquet file with the columns image (paths), text and labels (names,
    separated by |), or a folder of pictures with their texts in NAME.txt and labels as sub-folders.

    Encoders of pictures: gradients, efficientnet-lite0 to -lite2, open-clip/MODEL. Of texts: bow,
    tfidf, wordllama, open-clip/MODEL, sentence-transformers/MODEL. FILE.py: one of your own.
    """
    from tqdm import tqdm

    from hashbench.data.features.embed import embed
    from hashbench.data.features.pairs import read_pairs

    bars: dict[str, Any] = {}

    def show(view: str, done: int, total: int) -> None:
        bar = bars.setdefault(view, tqdm(total=total, desc=view, disable=not sys.stderr.isatty()))
        bar.update(done - bar.n)

    found = embed(
        read_pairs(source),
        output,
        image,
        text,
        batch_size=batch_size,
        thumbnails=thumbnails,
        progress=show,
    )
    for bar in bars.values():
        bar.close()
    if found.skipped:
        click.echo(f"skipped {len(found.skipped)} pictures that cannot be read:", err=True)
        for line in found.skipped[:SHOWN]:
            click.echo(f"  {line}", err=True)
    click.echo(
        f"{output}: {found.rows:,} rows; image {found.columns[0]}, text {found.columns[1]}; "
        f"{found.classes} classes\nhashbench run -d {output}"
    )
