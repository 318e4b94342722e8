"""MIRFlickr-25K: photographs and the tags of their owners."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hashbench.core.errors import HashbenchError
from hashbench.data.formats import load_file, load_files
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, LastQuery, RandomQuery
from hashbench.plugins.downloads import DataFile, locate
from hashbench.plugins.method import Citation

N_ROWS = 20015  # photographs of the 25,000 that have tags and labels

PUBLIC = "https://github.com/LonganWANG-cs/NRCH/archive/c2ec2e8.zip"

IMAGES = DataFile(
    "mirflickr25k/mirflickr25k-iall-vgg.mat",
    content="XAll or IAll, 20015 x 4096 CNN features of the images, as in UCCH",
)
TAGS = DataFile(
    "mirflickr25k/mirflickr25k-yall.mat",
    "a53d2ba6a5f3672b5e747aaa8b76d4af6be568d300715c6910d8c67bdef55f7e",
    PUBLIC,
    "YAll, 20015 x 1386 tags",
)
LABELS = DataFile(
    "mirflickr25k/mirflickr25k-lall.mat",
    "173eec1fb2603bb54c893467c127325556fbe5bc91dd7e647d136a8e4e9fd07d",
    PUBLIC,
    "LAll, 20015 x 24 labels",
)
SEPH = DataFile(
    "mirflickr25k/mirflickr25k.mat",
    url="https://raw.githubusercontent.com/liligithub5/ROHLSE/"
    "ca83a72b83ac70da8a63daf398ca8dc93080f6c6/mirflickr25k.mat",
    content="MIRFlickr-25K, features of images, tags and labels in one file (SePH layout), "
    "not seen by the authors of hashbench, no licence stated",
    git_blob="d6f0d522f7b48bee9ed2e7cee3937dc747698349",
)

PAPER = Citation(
    authors="M. J. Huiskes, M. S. Lew",
    title="The MIR Flickr Retrieval Evaluation",
    venue="ACM Multimedia Information Retrieval",
    year=2008,
)


class MIRFlickr25K(Dataset):
    """CNN features (4096-d) and tags (1386, 0 or 1) of 20,015 photographs, 24 labels.

    Parameters
    ----------
    path : a file or folder of your own in any layout, with the same rows; searched for if None
    """

    name = "mirflickr25k"
    title = "MIRFlickr-25K"
    source = PAPER
    files = (IMAGES, TAGS, LABELS)
    # The EDSH paper prints "80 % as query set", which would train on 4,003 rows: taken as 20 %.
    protocols: ClassVar = {
        "paper": RandomQuery(0.2),
        "last-2000": LastQuery(2000),
        "random-2000": RandomQuery(2000),
        "random-2000-train-5000": RandomQuery(2000, train=5000),
        "random-2000-train-10000": RandomQuery(2000, train=10000),
        "last-2000-train-5000": LastQuery(2000, train=5000),
        "last-2000-train-10000": LastQuery(2000, train=10000),
    }
    preprocessing = ("l2,centre", "centre")

    def __init__(self, path: str | None = None) -> None:
        self.path = path

    def load(self) -> Data:
        """Return the photographs that have tags and labels, in the order of the files."""
        if self.path is not None:
            data = load_file(Path(self.path))
        else:
            data = load_files([locate(file, self.name) for file in self.files])
        if data.n_rows != N_ROWS:
            raise HashbenchError(
                f"{self.name}: found {data.n_rows} rows; it has {N_ROWS}; another selection goes "
                "by its path, as in -d mirflickr-own=FILE"
            )
        return data


class MIRFlickrSePH(Dataset):
    """A released file with features of images, tags and labels together.

    The sizes are those of the file, which could not be opened when this loader was written.
    """

    name = "mirflickr25k-seph"
    title = "MIRFlickr-25K (SePH layout)"
    source = PAPER
    files = (SEPH,)
    protocols: ClassVar = {
        "standard": GivenSplit("the training rows and queries of the file"),
        "random-2000": RandomQuery(2000),
    }
    preprocessing = ("l2,centre", "centre")

    def load(self) -> Data:
        """Return the photographs, the training rows of the file first."""
        return load_file(locate(SEPH, self.name))
