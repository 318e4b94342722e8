"""Emoji: every emoji's picture and its words, real image-text data inside the package.

The file is made by research/build_emoji.py and read from the package: no download is needed.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hashbench.plugins.dataset import ContactSheet, Data, Dataset, HalfTrained, RandomQuery
from hashbench.plugins.method import Citation


class Emoji(Dataset):
    """1,906 emoji: shapes and colours (400-d), names and keywords (1,155 words), 9 groups.

    The image view holds oriented gradients and colour histograms of the Noto picture; the text
    view is 1 where an emoji has a word. The label is the group that Unicode puts an emoji in.
    """

    name = "emoji"
    title = "Emoji"
    source = Citation(
        authors="Unicode CLDR and Google Noto Emoji",
        title="Names and keywords (CLDR 48), pictures (Noto Emoji 2.048)",
        venue="npm packages emojibase-data 17.0.0 and emoji-datasource-google 16.0.0",
        year=2025,
    )
    licence = "names: Unicode License V3; pictures: Apache 2.0; see the file NOTICE of the package"
    protocols: ClassVar = {"default": HalfTrained(), "random": RandomQuery(0.25)}
    preprocessing = ("centre", "tfidf,l2,centre")

    def load(self) -> Data:
        """Return the pairs, shuffled once and for all."""
        import scipy.sparse  # only here: listing datasets should not wait for it

        file = files("hashbench.resources").joinpath("emoji.npz")
        with file.open("rb") as stream, np.load(stream) as archive:
            arrays = dict(archive)
        starts, indices = arrays["word_starts"], arrays["word_indices"].astype(np.int32)
        words = scipy.sparse.csr_array(
            (np.ones(len(indices), np.float32), indices, starts),
            shape=(len(starts) - 1, len(_strings(arrays["vocabulary"]))),
        )
        labels, label_names = self._labels(arrays)
        return Data(
            views=[arrays["image"].astype(np.float32), words],
            labels=labels,
            label_names=label_names,
            strings=_strings(arrays["characters"]),
            pictures=ContactSheet(
                files("hashbench.resources").joinpath("emoji_thumbnails.png").read_bytes(),
                size=32,
                columns=44,
            ),
        )

    def _labels(self, arrays: dict[str, Any]) -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
        return _one_hot(arrays["group"]), tuple(_strings(arrays["groups"]))


class EmojiMultilabel(Emoji):
    """The same emoji with two labels each: one of 9 groups and one of 98 subgroups."""

    name = "emoji-multilabel"
    title = "Emoji (two labels)"

    def load(self) -> Data:
        """Return the pairs, shuffled once and for all."""
        data = super().load()
        data.notes = [
            "labels: a subgroup lies within one group, so two items share a label exactly if they "
            "share their group; the subgroups change training and graded measures only"
        ]
        return data

    def _labels(self, arrays: dict[str, Any]) -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
        groups, group_names = super()._labels(arrays)
        labels = np.hstack([groups, _one_hot(arrays["subgroup"])])
        return labels, (*group_names, *_strings(arrays["subgroups"]))


def _strings(lines: npt.NDArray[np.uint8]) -> list[str]:
    return lines.tobytes().decode("utf-8").split("\n")


def _one_hot(classes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.eye(int(classes.max()) + 1, dtype=np.uint8)[classes]
