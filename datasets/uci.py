"""UCI multiple features: handwritten digits, described by two kinds of features."""

from __future__ import annotations

from typing import ClassVar

from hashbench.data.formats import load_file
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, RandomQuery
from hashbench.plugins.downloads import DataFile, locate
from hashbench.plugins.method import Citation

FILE = DataFile(
    "uci/uci_all.mat",
    "ba2fc14e773927423598e42bb2435b432a3fec524102bfaa224d3385405e378e",
    "https://github.com/LynnHongLiu/FSH/archive/de7f82e.zip",
    "2,000 digits, 76 Fourier and 64 Karhunen-Loeve coefficients",
)


class UCIDigits(Dataset):
    """Fourier (76-d) and Karhunen-Loeve (64-d) coefficients of 2,000 digits.

    Both views describe the same picture; they are called `image` and `text` all the same.
    """

    name = "uci-digits"
    title = "UCI digits"
    source = Citation(
        authors="M. van Breukelen, R. P. W. Duin, D. M. J. Tax, J. E. den Hartog",
        title="Handwritten Digit Recognition by Combined Classifiers",
        venue="Kybernetika",
        year=1998,
    )
    files = (FILE,)
    protocols: ClassVar = {
        "standard": GivenSplit("the file's 1500 training rows (= database) and 500 queries"),
        "random": RandomQuery(0.25),
    }

    def load(self) -> Data:
        """Return the digits, the file's training rows first."""
        return load_file(locate(FILE, self.name))
