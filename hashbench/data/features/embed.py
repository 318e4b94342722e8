"""Turn pictures, texts and labels into a dataset file that ``-d`` reads.

Features are written batch by batch into a folder beside the output, under the checksum of what
they were computed from. A run that was interrupted continues there, and the file is the same.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.core.io import save_arrays
from hashbench.data.features.encoders import COUNTS, Encoder, Features, load_encoder
from hashbench.data.features.pairs import Pair

MOST_WORDS = 2000
THUMBNAIL = 64  # pixels

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Embedded:
    """What was written.

    Attributes
    ----------
    rows : number of items in the file
    skipped : pictures that could not be read, with the reason
    """

    rows: int
    columns: tuple[int, int]
    classes: int
    skipped: list[str]


def embed(
    pairs: Sequence[Pair],
    output: Path,
    image: str,
    text: str,
    *,
    batch_size: int = 32,
    thumbnails: bool = False,
    progress: Progress = lambda view, done, total: None,
) -> Embedded:
    """Write the features, labels and texts of all items whose picture can be read.

    Parameters
    ----------
    pairs : the items
    output : an .npz file
    image, text : names of encoders
    batch_size : items per call of an encoder
    thumbnails : whether small pictures are stored for the page
    progress : called with the view, the number of items done and their total
    """
    if output.suffix != ".npz":
        raise HashbenchError(f"{output}: found {output.suffix or 'no ending'}; allowed: .npz")
    folder = output.with_name(f"{output.name}.partial")
    folder.mkdir(parents=True, exist_ok=True)
    readable, skipped = _readable(pairs)
    if not readable:
        raise HashbenchError(f"none of {len(pairs)} pictures can be read: {skipped[0]}")
    kept = [pair for pair, _ in readable]
    texts = [pair.text for pair in kept]

    images, image_recipe = _image_features(readable, folder, image, batch_size, progress)
    if text in COUNTS:
        words, text_recipe = _counts(texts, text)
    else:
        words, text_recipe = _text_features(texts, folder, text, batch_size, progress)
    names = sorted({name for pair in kept for name in pair.labels})
    arrays: dict[str, npt.NDArray[Any]] = {
        "image": images,
        "text": words,
        "labels": np.array(
            [[name in pair.labels for name in names] for pair in kept], np.uint8
        ).reshape(len(kept), len(names)),
        "view_names": np.asarray(["image", "text"], np.str_),
        "label_names": np.asarray(names, np.str_),
        "strings": np.asarray([each.partition("\n")[0] for each in texts], np.str_),
        "first_row": np.asarray(0),
        "recipe": np.asarray(json.dumps({"image": image_recipe, "text": text_recipe})),
    }
    if thumbnails:
        arrays["thumbnail_size"] = np.asarray(THUMBNAIL)
        arrays["thumbnails"] = _contact_sheet([pair.image for pair in kept])
    save_arrays(output, arrays)
    shutil.rmtree(folder)
    return Embedded(len(kept), (images.shape[1], words.shape[1]), len(names), skipped)


def _readable(pairs: Sequence[Pair]) -> tuple[list[tuple[Pair, str]], list[str]]:
    """Return the items whose picture can be read, with its checksum; and a line for the others."""
    from PIL import Image

    found, skipped = [], []
    for pair in pairs:
        try:
            content = pair.image.read_bytes()
            with Image.open(io.BytesIO(content)) as picture:
                picture.load()
            found.append((pair, hashlib.sha256(content).hexdigest()))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            skipped.append(f"{pair.image}: {error}")
    return found, skipped


def _image_features(
    items: Sequence[tuple[Pair, str]], folder: Path, name: str, batch_size: int, progress: Progress
) -> tuple[Features, dict[str, str]]:
    from PIL import Image

    encoder = load_encoder(name, "image")

    def open_pictures(indices: Sequence[int]) -> list[Any]:
        pictures = []
        for index in indices:
            with Image.open(items[index][0].image) as picture:
                pictures.append(picture.convert("RGB"))
        return pictures

    keys = [key for _, key in items]
    return _encode(encoder, "image", keys, open_pictures, folder, batch_size, progress)


def _text_features(
    texts: Sequence[str], folder: Path, name: str, batch_size: int, progress: Progress
) -> tuple[Features, dict[str, str]]:
    encoder = load_encoder(name, "text")
    keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]

    def choose(indices: Sequence[int]) -> list[Any]:
        return [texts[index] for index in indices]

    return _encode(encoder, "text", keys, choose, folder, batch_size, progress)


def _encode(
    encoder: Encoder,
    view: str,
    keys: Sequence[str],
    items: Callable[[Sequence[int]], list[Any]],
    folder: Path,
    batch_size: int,
    progress: Progress,
) -> tuple[Features, dict[str, str]]:
    """Return one row of features per key, computing only those that no earlier run has stored."""
    recipe = json.dumps(encoder.recipe, sort_keys=True)
    parts = folder / f"{view}-{hashlib.sha256(recipe.encode()).hexdigest()[:16]}"
    parts.mkdir(exist_ok=True)
    rows: dict[str, Features] = {}
    for path in sorted(parts.glob("*.npz")):  # batches that were written as a whole
        with np.load(path) as stored:
            rows.update(zip(stored["keys"].tolist(), stored["features"], strict=True))
    first = {key: index for index, key in reversed(list(enumerate(keys)))}
    todo = [index for index in sorted(first.values()) if keys[index] not in rows]
    for start in range(0, len(todo), batch_size):
        progress(view, len(rows), len(first))
        batch = todo[start : start + batch_size]
        features = encoder.encode(items(batch))
        names = [keys[index] for index in batch]
        save_arrays(parts / f"{names[0]}.npz", {"keys": np.asarray(names), "features": features})
        rows.update(zip(names, features, strict=True))
    progress(view, len(first), len(first))
    return np.stack([rows[key] for key in keys]), encoder.recipe


def _counts(texts: Sequence[str], kind: str) -> tuple[Features, dict[str, str]]:
    """Return which words occur in each text, or their TF-IDF weights, over the commonest words."""
    import sklearn
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    options: dict[str, Any] = {"max_features": MOST_WORDS, "stop_words": "english"}
    if kind == "bow":
        vectorizer = CountVectorizer(binary=True, **options)
    else:
        vectorizer = TfidfVectorizer(**options)
    try:
        words = vectorizer.fit_transform(texts)
    except ValueError as error:
        raise HashbenchError(f"texts: {error}; {kind} needs words besides stop words") from error
    recipe = {
        "encoder": kind,
        "version": f"scikit-learn {sklearn.__version__}",
        "preprocessing": f"at most {MOST_WORDS} words over all rows, without English stop words",
    }
    return words.toarray().astype(np.float32), recipe


def _contact_sheet(paths: Sequence[Path]) -> npt.NDArray[np.uint8]:
    """Return small pictures of all items in one PNG file, row by row, as bytes."""
    from PIL import Image

    columns = int(np.ceil(np.sqrt(len(paths))))
    lines = -(-len(paths) // columns)
    sheet = Image.new("RGB", (columns * THUMBNAIL, lines * THUMBNAIL), "white")
    for index, path in enumerate(paths):
        with Image.open(path) as picture:
            small = picture.convert("RGB")
            small.thumbnail((THUMBNAIL, THUMBNAIL))
        line, column = divmod(index, columns)
        sheet.paste(small, (column * THUMBNAIL, line * THUMBNAIL))
    stream = io.BytesIO()
    sheet.save(stream, "PNG", optimize=True)
    return np.frombuffer(stream.getvalue(), np.uint8)
