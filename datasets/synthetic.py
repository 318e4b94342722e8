"""Synthetic data: for tests, timing and scale, not for claims about retrieval.

Every item has classes; its classes and a variation of its own give a short latent vector, which
each view maps linearly and adds noise to. The presets have the shapes of data that papers use.
They are written to disk in blocks once and read as memory maps, because they take up to 3 GB.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.core.paths import cache_folder
from hashbench.plugins.dataset import Data, Dataset, HalfTrained, RandomQuery

LATENT_DIM = 32
OWN_VARIATION = 0.5  # standard deviation within a class; between classes it is 1
BLOCK_ROWS = 8192

Real = npt.NDArray[np.float32]
TextKind = Literal["dense", "topics", "tags"]


def make_labels(
    rows: int, classes: int, labels_per_row: float, rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Return random labels: one class for each row, others so that the mean is `labels_per_row`."""
    if not 1 <= labels_per_row <= classes:
        raise HashbenchError(
            f"labels_per_row: found {labels_per_row}; allowed: from 1 to the number of classes, "
            f"{classes}"
        )
    others = (labels_per_row - 1) / max(classes - 1, 1)
    labels = (rng.random((rows, classes)) < others).astype(np.uint8)
    labels[np.arange(rows), rng.integers(classes, size=rows)] = 1
    return labels


class Generator:
    """Draw views for labelled rows, one block at a time.

    Parameters
    ----------
    classes, image_dim, text_dim : sizes
    snr : variance of the signal over variance of the noise, in every column
    text : "dense" (like the image), "topics" (rows of proportions) or "tags" (rows of 0 and 1)
    tags_per_row : their mean number, for "tags"
    rng : the only source of randomness
    """

    def __init__(
        self,
        classes: int,
        image_dim: int,
        text_dim: int,
        snr: float,
        rng: np.random.Generator,
        text: TextKind = "dense",
        tags_per_row: float = 5.0,
    ) -> None:
        if not snr >= 0:
            raise HashbenchError(f"snr: found {snr}; allowed: numbers from 0 up")
        self.snr, self.text, self.tags_per_row, self.rng = snr, text, tags_per_row, rng
        self.centres = rng.standard_normal((classes, LATENT_DIM), np.float32)
        scale = np.float32(LATENT_DIM * (1 + OWN_VARIATION**2)) ** -0.5
        self.maps = [
            rng.standard_normal((LATENT_DIM, d), np.float32) * scale for d in (image_dim, text_dim)
        ]

    def block(self, labels: npt.NDArray[np.uint8]) -> tuple[Real, Real]:
        """Return image and text rows for a block of labels."""
        weights = labels / np.sqrt(labels.sum(axis=1, keepdims=True), dtype=np.float32)
        own = self.rng.standard_normal((len(labels), LATENT_DIM), np.float32)
        latent = weights.astype(np.float32) @ self.centres + np.float32(OWN_VARIATION) * own
        image = self._noisy(latent @ self.maps[0])
        signal = latent @ self.maps[1]
        if self.text == "tags":
            return image, self._tags(signal)
        text = self._noisy(signal)
        return image, _proportions(text) if self.text == "topics" else text

    def _noisy(self, signal: Real) -> Real:
        signal *= np.float32(self.snr**0.5)
        signal += self.rng.standard_normal(signal.shape, np.float32)
        return signal

    def _tags(self, signal: Real) -> Real:
        chances = self.tags_per_row * _proportions(2 * signal)
        tags = self.rng.random(signal.shape, np.float32) < chances
        # Collections drop items without a tag; here such an item gets its most probable one.
        bare = ~tags.any(axis=1)
        tags[bare, chances[bare].argmax(axis=1)] = True
        return tags.astype(np.float32)


def _proportions(scores: Real) -> Real:
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


class Synthetic(Dataset):
    """Two views of labelled latent vectors, in noise.

    Parameters
    ----------
    rows, image_dim, text_dim, classes : sizes
    labels_per_row : mean number of labels per row; 1 is single-label
    snr : variance of the signal over variance of the noise, in every column
    seed : another seed is another dataset
    """

    name = "synthetic"
    title = "Synthetic"
    synthetic = True

    def __init__(
        self,
        rows: int = 1000,
        image_dim: int = 64,
        text_dim: int = 32,
        classes: int = 8,
        labels_per_row: float = 1.0,
        snr: float = 0.5,
        seed: int = 0,
    ) -> None:
        self.rows = rows
        self.image_dim = image_dim
        self.text_dim = text_dim
        self.classes = classes
        self.labels_per_row = labels_per_row
        self.snr = snr
        self.seed = seed

    def load(self) -> Data:
        """Return the data, drawn in memory."""
        for size in ("rows", "image_dim", "text_dim", "classes"):
            _check_integer(size, getattr(self, size), 1)
        _check_integer("seed", self.seed, 0)
        rng = np.random.default_rng(self.seed)
        labels = make_labels(self.rows, self.classes, self.labels_per_row, rng)
        generator = Generator(self.classes, self.image_dim, self.text_dim, self.snr, rng)
        return Data(list(generator.block(labels)), labels)


def _check_integer(what: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise HashbenchError(f"{what}: found {value!r}; allowed: whole numbers from {least} up")


class SyntheticPreset(Dataset):
    """A synthetic dataset with the shapes of a real one, stored on disk.

    Parameters
    ----------
    rows : number of rows; that of the original if None
    seed : another seed is another dataset
    """

    synthetic = True
    n_rows: ClassVar[int]
    image_dim: ClassVar[int] = 4096
    text_dim: ClassVar[int]
    classes: ClassVar[int]
    labels_per_row: ClassVar[float]
    text_kind: ClassVar[TextKind]
    tags_per_row: ClassVar[float] = 5.0
    snr: ClassVar[float] = 0.02  # 4096 columns at a higher ratio leave nothing to learn

    def __init__(self, rows: int | None = None, seed: int = 0) -> None:
        self.rows = rows
        self.seed = seed

    def load(self) -> Data:
        """Return the data as memory maps, after writing them if they are not there."""
        import scipy.sparse

        rows = self.n_rows if self.rows is None else self.rows
        _check_integer("rows", rows, 1)
        _check_integer("seed", self.seed, 0)
        folder = cache_folder() / "synthetic" / f"{self.name}-rows{rows}-seed{self.seed}-v1"
        if not folder.is_dir():
            from hashbench.core.io import new_folder, writing

            with new_folder(folder) as unfinished, writing(folder):
                self._write(unfinished, rows)
        image = np.load(folder / "image.npy", mmap_mode="r")
        text: Any = (
            scipy.sparse.load_npz(folder / "text.npz")
            if self.text_kind == "tags"
            else np.load(folder / "text.npy", mmap_mode="r")
        )
        return Data([image, text], np.load(folder / "labels.npy"))

    def _write(self, folder: Path, rows: int) -> None:
        import scipy.sparse

        from hashbench.data.memory_maps import write_rows

        needed, free = rows * self.image_dim * 4, shutil.disk_usage(folder).free
        if free < 1.1 * needed:
            raise HashbenchError(
                f"{self.name}: {folder.parent} has {free / 1e9:.1f} GB free; "
                f"{1.1 * needed / 1e9:.1f} GB are needed"
            )
        rng = np.random.default_rng(self.seed)
        labels = make_labels(rows, self.classes, self.labels_per_row, rng)
        generator = Generator(
            self.classes,
            self.image_dim,
            self.text_dim,
            self.snr,
            rng,
            self.text_kind,
            self.tags_per_row,
        )
        texts: list[Any] = []

        def images() -> Iterator[Real]:
            for start in range(0, rows, BLOCK_ROWS):
                image, text = generator.block(labels[start : start + BLOCK_ROWS])
                texts.append(scipy.sparse.csr_array(text) if self.text_kind == "tags" else text)
                yield image

        write_rows(images(), folder / "image.npy", rows)
        if self.text_kind == "tags":
            scipy.sparse.save_npz(folder / "text.npz", scipy.sparse.vstack(texts, format="csr"))
        else:
            np.save(folder / "text.npy", np.concatenate(texts))
        np.save(folder / "labels.npy", labels)


class SyntheticWiki(SyntheticPreset):
    """2,866 rows, 4096-d images and 10-d topics, one of 10 labels per row."""

    name = "synthetic-wiki"
    title = "Synthetic (Wiki's shape)"
    n_rows, text_dim, classes, labels_per_row, text_kind = 2866, 10, 10, 1.0, "topics"
    protocols: ClassVar = {"default": HalfTrained(), "paper": RandomQuery(0.25)}


class SyntheticMIRFlickr(SyntheticPreset):
    """20,015 rows, 4096-d images and 1386 tags, about 3.8 of 24 labels per row."""

    name = "synthetic-mirflickr"
    title = "Synthetic (MIRFlickr's shape)"
    n_rows, text_dim, classes, labels_per_row, text_kind = 20015, 1386, 24, 3.8, "tags"
    tags_per_row = 4.6
    protocols: ClassVar = {
        "default": HalfTrained(0.2),
        "paper": RandomQuery(0.2),
        "random-2000": RandomQuery(2000),
    }


class SyntheticNUSWIDE(SyntheticPreset):
    """196,776 rows, 4096-d images and 1000 tags, about 2.4 of 21 labels per row."""

    name = "synthetic-nuswide"
    title = "Synthetic (NUS-WIDE's shape)"
    n_rows, text_dim, classes, labels_per_row, text_kind = 196776, 1000, 21, 2.4, "tags"
    tags_per_row = 6.0
    protocols: ClassVar = {
        "default": HalfTrained(0.01),
        "paper": RandomQuery(0.01),
        "random-2000": RandomQuery(2000),
    }
