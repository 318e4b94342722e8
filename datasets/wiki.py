"""Wiki: sections of Wikipedia's featured articles and their pictures."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hashbench.data.formats import load_file
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, RandomQuery
from hashbench.plugins.downloads import DataFile, locate
from hashbench.plugins.method import Citation

PAPER = Citation(
    authors="N. Rasiwasia, J. Costa Pereira, E. Coviello, G. Doyle, G. R. G. Lanckriet, R. Levy, "
    "N. Vasconcelos",
    title="A New Approach to Cross-Modal Multimedia Retrieval",
    venue="ACM Multimedia",
    year=2010,
)

#: Checked against the class sizes that the authors print (art 138 + 34, ..., warfare 347 + 104).
CATEGORIES = (
    "art",
    "biology",
    "geography",
    "history",
    "literature",
    "media",
    "music",
    "royalty",
    "sport",
    "warfare",
)

SIFT_AND_TOPICS = DataFile(
    "wiki/wiki_data.mat",
    "8167d490086054087b6e39fddad51402e3c1c5bd19f1470ee4c7f04744cb51b6",
    "https://github.com/lichuanxiang/SCRATCH/raw/a3bad26/wiki_data.mat",
    "2,866 pairs, 128-d SIFT bag of words and 10-d LDA topics",
)
STRONGER_IMAGES = DataFile(
    "wiki/wiki_roph.mat",
    "e417067eb501fbb41375b4461469089c9f0332ff9cdaf3b5f6570bbf0078d97c",
    "https://github.com/kding1225/RoPH/raw/6d4a062/data/wiki.mat",
    "the same pairs in the same order, 128-d image features",
)

STANDARD = GivenSplit("the authors' 2173 training rows (= database) and 693 queries")
AS_IN_THE_PAPER = RandomQuery(0.25)


class Wiki(Dataset):
    """SIFT bags of words (128-d) and LDA topics (10-d), as most papers use them."""

    name = "wiki"
    title = "Wiki"
    source = PAPER
    files = (SIFT_AND_TOPICS,)
    protocols: ClassVar = {"standard": STANDARD, "paper": AS_IN_THE_PAPER}

    def load(self) -> Data:
        """Return the pairs, the authors' training rows first."""
        data = load_file(locate(SIFT_AND_TOPICS, self.name))
        data.label_names = CATEGORIES
        return data


class WikiCNN(Dataset):
    """Stronger image features (128-d) with the same LDA topics (10-d)."""

    name = "wiki-cnn"
    title = "Wiki (CNN)"
    source = PAPER
    files = (SIFT_AND_TOPICS, STRONGER_IMAGES)
    protocols: ClassVar = {"paper": AS_IN_THE_PAPER, "standard": STANDARD}
    preprocessing = ("l2,centre", "centre")

    def load(self) -> Data:
        """Return the pairs, the authors' training rows first."""
        data = load_file(locate(SIFT_AND_TOPICS, self.name))
        images = load_file(locate(STRONGER_IMAGES, self.name)).views[0]
        data.views = [np.ascontiguousarray(images), data.views[1]]
        data.label_names = CATEGORIES
        data.notes = [
            "image: very probably a projection of CNN features onto principal directions; it was "
            "fitted on all rows, queries included, before the data were published"
        ]
        return data
