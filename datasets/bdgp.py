"""BDGP: pictures of fruit fly embryos and the terms that experts describe them with."""

from __future__ import annotations

from typing import ClassVar

from hashbench.data.formats import load_file
from hashbench.plugins.dataset import Data, Dataset, RandomQuery
from hashbench.plugins.downloads import DataFile, locate
from hashbench.plugins.method import Citation

FILE = DataFile(
    "bdgp/BDGP.mat",
    "dd53d29ad7cfd3adf4caf5203f51387b97981d60cd427798acfe1f2481363e11",
    "https://github.com/scutbioinformatics/CELT/archive/3a66b24.zip",
    "2,500 pairs, 1750-d visual words and 79 terms",
)


class BDGP(Dataset):
    """Visual words (1750-d) and terms (79, 0 or 1) of 2,500 embryos in 5 stages.

    The terms nearly determine the stage: scores near 1 are normal for this dataset.
    """

    name = "bdgp"
    title = "BDGP"
    source = Citation(
        authors="X. Cai, H. Wang, H. Huang, C. Ding",
        title="Joint Stage Recognition and Anatomical Annotation of Drosophila Gene Expression "
        "Patterns",
        venue="Bioinformatics",
        year=2012,
    )
    files = (FILE,)
    protocols: ClassVar = {"random": RandomQuery(0.25)}

    def load(self) -> Data:
        """Return the pairs, ordered by class."""
        return load_file(locate(FILE, self.name))
