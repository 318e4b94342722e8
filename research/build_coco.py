"""Write hashbench/resources/coco.npz from features of COCO val2017.

    HASHBENCH_DATA=/path/to/data python research/build_coco.py [--compare]

Reads `coco/coco_val2017.npz` in the data folder. Image features and word vectors are stored with 8
bits per value and one scale per column, bags of words and labels with one bit per value. The
archive is compressed by LZMA, which numpy reads too.

With `--compare`, nothing is written: the mean AP of both tasks is printed for some methods on the
features as they are in the source (float16) and as they are shipped.
"""

from __future__ import annotations

import io
import os
import sys
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


def compare(source):
    """Print AP with the features of the source and with those that are shipped."""
    from threadpoolctl import threadpool_limits

    import hashbench
    from hashbench.datasets.coco import Coco
    from hashbench.plugins.registry import discover

    threadpool_limits(1)

    shipped = Coco().load()
    exact = [source["image_cnn"].astype(np.float32), shipped.views[1].toarray()]
    split = Coco().split(shipped, "random", 0)
    print("method       float16   8 bits")
    for name in ("cca", "cmfh", "edsh", "batch", "pca-itq", "ridge-labels"):
        scores = []
        for image in (exact[0], shipped.views[0]):
            views = [X / np.linalg.norm(X, axis=1, keepdims=True) for X in (image, exact[1])]
            method = discover().get("methods", name).cls(n_bits=16, random_state=0)
            method.fit([X[split.train] for X in views], shipped.labels[split.train])
            codes = [method.encode(X, m) for m, X in enumerate(views)]
            scores += [
                hashbench.evaluate(
                    codes[m][split.query], codes[1 - m][split.database],
                    shipped.labels[split.query], shipped.labels[split.database], "AP",
                )["AP"]
                for m in (0, 1)
            ]  # fmt: skip
        print(f"{name:12} {np.mean(scores[:2]):.4f}   {np.mean(scores[2:]):.4f}")


def main() -> None:
    """Write the file and print its size."""
    path = Path(os.environ["HASHBENCH_DATA"]) / "coco" / "coco_val2017.npz"
    if "--compare" in sys.argv:
        with np.load(path) as source:
            compare(source)
        return
    with np.load(path) as source, zipfile.ZipFile(OUTPUT, "w", zipfile.ZIP_LZMA) as archive:
        for name, values in arrays(source).items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.ascontiguousarray(values), allow_pickle=False)
            # A fixed date: the same arrays give the same file.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), stream.getvalue(), zipfile.ZIP_LZMA)
    print(f"{OUTPUT.name}: {OUTPUT.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
