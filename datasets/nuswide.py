"""NUS-WIDE: photographs with tags, in the three selections that papers use.

The features of these three may not be redistributed: an error names the missing file, and
``nuswide[path=...]`` reads a file of any layout.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hashbench.core.errors import HashbenchError
from hashbench.data.formats import load_file, load_files
from hashbench.plugins.dataset import (
    Data,
    Dataset,
    GivenSplit,
    LastQuery,
    RandomQuery,
    SplitProtocol,
)
from hashbench.plugins.downloads import DataFile, locate
from hashbench.plugins.method import Citation

PAPER = Citation(
    authors="T.-S. Chua, J. Tang, R. Hong, H. Li, Z. Luo, Y. Zheng",
    title="NUS-WIDE: A Real-World Web Image Database from National University of Singapore",
    venue="ACM CIVR",
    year=2009,
)

DLFH = DataFile(
    "nuswide/nus-wide.mat",
    url="https://raw.githubusercontent.com/kaihang-jiang/ROH/"
    "beae7c4b9c535df2f3521dd973e13a9567790de7/datasets/nus-wide.mat",
    content="NUS-WIDE, features of images, tags and labels in one file (DLFH layout), "
    "not seen by the authors of hashbench, no licence stated",
    git_blob="3ff8caf57660904e25609d34fea8a284c692590b",
)

#: The queries of UCCH and later papers, and the numbers of training rows that papers use.
COMMON: dict[str, SplitProtocol] = {
    "last-2100": LastQuery(2100),
    "random-2000": RandomQuery(2000),
    "random-2100": RandomQuery(2100),
    "last-2100-train-10500": LastQuery(2100, train=10500),
    "random-2100-train-10500": RandomQuery(2100, train=10500),
    "random-2000-train-5000": RandomQuery(2000, train=5000),
}


def _matrix_files(prefix: str, rows: int, classes: int) -> tuple[DataFile, ...]:
    return (
        DataFile(
            f"nuswide/{prefix}-xall-vgg.mat",
            content=f"XAll, {rows} x 4096 CNN features of the images",
        ),
        DataFile(f"nuswide/{prefix}-yall.mat", content=f"YAll, {rows} x 1000 tags"),
        DataFile(f"nuswide/{prefix}-lall.mat", content=f"LAll, {rows} x {classes} labels"),
    )


class NUSWIDESelection(Dataset):
    """Base of the selections of photographs.

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
    """195,834 photographs with one of the 21 most frequent labels, as UCCH uses them."""

    name = "nuswide-tc21"
    title = "NUS-WIDE (TC21)"
    n_rows = 195834
    files = _matrix_files("nus-wide-tc21", n_rows, 21)
    protocols: ClassVar = COMMON


class NUSWIDETop10(NUSWIDESelection):
    """186,577 photographs with one of the 10 most frequent labels."""

    name = "nuswide-tc10"
    title = "NUS-WIDE (TC10)"
    n_rows = 186577
    files = _matrix_files("nus-wide-tc10", n_rows, 10)
    protocols: ClassVar = COMMON


class NUSWIDEDLFH(Dataset):
    """A released file with features of images, tags and labels together.

    The sizes are those of the file, which could not be opened when this loader was written.
    """

    name = "nuswide-dlfh"
    title = "NUS-WIDE (DLFH layout)"
    source = PAPER
    files = (DLFH,)
    protocols: ClassVar = {
        "standard": GivenSplit("the database (= training rows) and queries of the file"),
        "random-2000": RandomQuery(2000),
    }
    preprocessing = ("l2,centre", "centre")

    def load(self) -> Data:
        """Return the photographs, the database of the file first."""
        return load_file(locate(DLFH, self.name))
