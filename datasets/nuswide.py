"""NUS-WIDE: photographs with tags, in the three selections that papers use.

No version of the features may be redistributed; every error names the file to place, and
``nuswide[path=...]`` takes a file of any layout.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hashbench.core.errors import HashbenchError
from hashbench.data.formats import load_file, load_files
from hashbench.plugins.dataset import Data, Dataset, LastQuery, RandomQuery, SplitProtocol
from hashbench.plugins.downloads import DataFile, locate
from hashbench.plugins.method import Citation

PAPER = Citation(
    authors="T.-S. Chua, J. Tang, R. Hong, H. Li, Z. Luo, Y. Zheng",
    title="NUS-WIDE: A Real-World Web Image Database from National University of Singapore",
    venue="ACM CIVR",
    year=2009,
)

#: As UCCH and its kin take the queries, and how many rows papers train on.
COMMON: dict[str, SplitProtocol] = {
    "last-2100": LastQuery(2100),
    "random-2000": RandomQuery(2000),
    "random-2100": RandomQuery(2100),
    "last-2100-train-10500": LastQuery(2100, train=10500),
    "random-2100-train-10500": RandomQuery(2100, train=10500),
    "random-2000-train-5000": RandomQuery(2000, train=5000),
}


def _one_file_a_matrix(prefix: str, rows: int, classes: int) -> tuple[DataFile, ...]:
    return (
        DataFile(
            f"nuswide/{prefix}-xall-vgg.mat",
            content=f"XAll, {rows} x 4096 CNN features of the images",
        ),
        DataFile(f"nuswide/{prefix}-yall.mat", content=f"YAll, {rows} x 1000 tags"),
        DataFile(f"nuswide/{prefix}-lall.mat", content=f"LAll, {rows} x {classes} labels"),
    )


class NUSWIDESelection(Dataset):
    """What the selections have in common.

    Parameters
    ----------
    path : a file or folder of your own in any layout, with the same rows; searched for if None
    """

    source = PAPER
    preprocessing = ("l2,centre", "centre")
    n_rows: ClassVar[int]

    def __init__(self, path: str | None = None) -> None:
        self.path = path

    def load(self) -> Data:
        """Return the photographs in the order of the files."""
        if self.path is not None:
            data = load_file(Path(self.path))
        elif len(self.files) == 1:
            data = load_file(locate(self.files[0], self.name))
        else:
            data = load_files([locate(file, self.name) for file in self.files])
        if data.n_rows != self.n_rows:
            raise HashbenchError(
                f"{self.name}: found {data.n_rows} rows; this selection has {self.n_rows}; "
                "another goes by its path, as in -d nuswide-own=FILE"
            )
        return data


class NUSWIDE(NUSWIDESelection):
    """The EDSH paper's 196,776 photographs with one of the 21 most frequent labels."""

    name = "nuswide"
    title = "NUS-WIDE"
    n_rows = 196776
    files = (
        DataFile(
            "nuswide/nuswide.mat",
            content="196776 rows in any known layout, such as I_tr T_tr L_tr I_te T_te L_te: "
            "4096-d CNN features, bags of words, 21 labels",
        ),
    )
    protocols: ClassVar = {"paper": RandomQuery(0.01), **COMMON}


class NUSWIDETop21(NUSWIDESelection):
    """195,834 photographs with one of the 21 most frequent labels, as UCCH and its kin use them."""

    name = "nuswide-tc21"
    title = "NUS-WIDE (TC21)"
    n_rows = 195834
    files = _one_file_a_matrix("nus-wide-tc21", n_rows, 21)
    protocols: ClassVar = COMMON


class NUSWIDETop10(NUSWIDESelection):
    """186,577 photographs with one of the 10 most frequent labels."""

    name = "nuswide-tc10"
    title = "NUS-WIDE (TC10)"
    n_rows = 186577
    files = _one_file_a_matrix("nus-wide-tc10", n_rows, 10)
    protocols: ClassVar = COMMON
