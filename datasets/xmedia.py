"""XMedia: pictures and texts of 20 classes."""

from __future__ import annotations

from typing import ClassVar

from hashbench.data.formats import load_file
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, RandomQuery
from hashbench.plugins.downloads import DataFile, locate
from hashbench.plugins.method import Citation

FILE = DataFile(
    "xmedia/XMediaFeatures.mat",
    url="https://raw.githubusercontent.com/perquisite/RSHNL/"
    "34de1461382db360a9dbaca9048ed653104c6887/datasets/XMediaFeatures.mat",
    content="XMedia, I_tr_CNN T_tr_BOW trImgCat and the same for te, "
    "not seen by the authors of hashbench, no licence stated",
    git_blob="5f9a2f26b29da4a82274a8a842968c03e4a66f58",
)


class XMedia(Dataset):
    """CNN features of pictures and bags of words of texts, 20 classes.

    The sizes are those of the file, which could not be opened when this loader was written.
    """

    name = "xmedia"
    title = "XMedia"
    source = Citation(
        authors="X. Zhai, Y. Peng, J. Xiao",
        title="Learning Cross-Media Joint Representation with Sparse and Semisupervised "
        "Regularization",
        venue="IEEE Transactions on Circuits and Systems for Video Technology",
        year=2014,
    )
    files = (FILE,)
    protocols: ClassVar = {
        "standard": GivenSplit("the training rows (= database) and queries of the file"),
        "random": RandomQuery(0.25),
    }
    preprocessing = ("l2,centre", "l2,centre")

    def load(self) -> Data:
        """Return the pairs, the training rows of the file first."""
        return load_file(locate(FILE, self.name))
