"""COCO: 5,000 photographs with captions, real multi-label data inside the package.

The photographs are those of the COCO validation set of 2017. The package holds features, captions
and labels of them, not the pictures. ``research/build_coco.py`` writes the file.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import unknown
from hashbench.plugins.dataset import Data, Dataset, HalfTrained, RandomQuery
from hashbench.plugins.method import Citation

IMAGES = ("cnn", "gist")
TEXTS = ("bow", "wordllama")
N_WORDS, N_CLASSES = 2000, 80


class Coco(Dataset):
    """5,000 photographs with captions: CNN features (1,280-d), 2,000 caption words, 80 labels.

    Parameters
    ----------
    image : {"cnn", "gist"}
        Outputs of EfficientNet-Lite0, averaged over positions (1,280-d), or GIST (512-d).
    text : {"bow", "wordllama"}
        Which of 2,000 words occur in the captions, or the mean of WordLlama vectors (256-d).
    """

    name = "coco"
    title = "COCO"
    source = Citation(
        authors="T.-Y. Lin, M. Maire, S. Belongie, J. Hays, P. Perona, D. Ramanan, P. Dollár, "
        "C. L. Zitnick",
        title="Microsoft COCO: common objects in context (validation set of 2017)",
        venue="European Conference on Computer Vision",
        year=2014,
    )
    licence = (
        "captions and labels: CC BY 4.0, COCO Consortium (cocodataset.org); image features: "
        "EfficientNet-Lite0 (Apache 2.0); word vectors: WordLlama (MIT); no photographs are shipped"
    )
    # MIRFlickr-25K, NUS-WIDE and COCO are split into 2,000 of 20,015, 2,100 of 195,834 and 5,000 of
    # 122,218 queries, and 5,000, 10,500 and 10,000 training rows: the same shares of 5,000 rows.
    protocols: ClassVar = {
        "default": HalfTrained(0.2),
        "random": RandomQuery(0.2),
        "mirflickr-sizes": RandomQuery(500, train=1250),
        "nuswide-sizes": RandomQuery(54, train=268),
        "coco-sizes": RandomQuery(205, train=409),
    }
    preprocessing = ("l2,centre", "l2,centre")

    def __init__(self, image: str = "cnn", text: str = "bow") -> None:
        self.image = image
        self.text = text

    def load(self) -> Data:
        """Return the photographs in the order of COCO's numbers."""
        for kind, value, allowed in (("image", self.image, IMAGES), ("text", self.text, TEXTS)):
            if value not in allowed:
                raise unknown(f"{self.name} {kind}", value, allowed)
        file = files("hashbench.resources").joinpath("coco.npz")
        with file.open("rb") as stream, np.load(stream) as archive:
            image = _dense(archive, self.image)
            text = _words(archive) if self.text == "bow" else _dense(archive, self.text)
            labels = np.unpackbits(archive["labels"], axis=1)[:, :N_CLASSES]
            classes, captions = _lines(archive["classes"]), _lines(archive["captions"])
        unlabelled = int((labels.sum(axis=1) == 0).sum())
        return Data(
            views=[image, text],
            labels=labels,
            label_names=tuple(classes),
            strings=[each.partition("\t")[0] for each in captions],
            notes=[f"labels: {unlabelled} photographs have none; they are never queries"],
        )


def _dense(archive: Any, name: str) -> npt.NDArray[np.float32]:
    """Return an array that is stored with 8 bits per value and a scale per column."""
    values: npt.NDArray[np.float32] = archive[name] * archive[f"{name}_step"]
    values += archive[f"{name}_low"]
    return values


def _words(archive: Any) -> Any:
    """Return which words occur in the captions of each photograph, (n, 2000) sparse."""
    import scipy.sparse  # only here: listing datasets should not wait for it

    occurs = np.unpackbits(archive["bow"], axis=1)[:, :N_WORDS]
    return scipy.sparse.csr_array(occurs.astype(np.float32))


def _lines(text: npt.NDArray[np.uint8]) -> list[str]:
    return text.tobytes().decode("utf-8").split("\n")
