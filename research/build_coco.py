"""Write hashbench/resources/coco.npz from features of COCO val2017.

    HASHBENCH_DATA=/path/to/data python research/build_coco.py

Reads `coco/coco_val2017.npz` in the data folder. Image features and word vectors are stored with 8
bits per value and one scale per column, bags of words and labels with one bit per value. The
archive is compressed by LZMA, which numpy reads too.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np

OUTPUT = Path(__file__).resolve().parents[1] / "hashbench" / "resources" / "coco.npz"
DENSE = {"cnn": "image_cnn", "gist": "image_gist", "wordllama": "text_wordllama"}


def quantise(X):
    """Return X in 8 bits per value, and the minimum and step of every column."""
    X = X.astype(np.float32)
    low, high = X.min(axis=0), X.max(axis=0)
    step = np.where(high > low, (high - low) / 255, 1).astype(np.float32)
    return np.rint((X - low) / step).astype(np.uint8), low, step


def text(lines):
    """Return lines of text as bytes in UTF-8."""
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


def arrays(source):
    """Return what the file holds, by name."""
    captions = ["\t".join(map(str.strip, each.split("\n"))) for each in source["captions"]]
    found = {
        "ids": source["ids"],
        "bow": source["text_bow_packed"],
        "vocabulary": text(source["vocabulary"]),
        "labels": source["labels_packed"],
        "classes": text(source["classes"]),
        "captions": text(captions),
    }
    for name, key in DENSE.items():
        found[name], found[f"{name}_low"], found[f"{name}_step"] = quantise(source[key])
    return found


def main() -> None:
    """Write the file and print its size."""
    path = Path(os.environ["HASHBENCH_DATA"]) / "coco" / "coco_val2017.npz"
    with np.load(path) as source, zipfile.ZipFile(OUTPUT, "w", zipfile.ZIP_LZMA) as archive:
        for name, values in arrays(source).items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.ascontiguousarray(values), allow_pickle=False)
            # A fixed date: the same arrays give the same file.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), stream.getvalue(), zipfile.ZIP_LZMA)
    print(f"{OUTPUT.name}: {OUTPUT.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
