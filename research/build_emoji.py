"""Make the embedded `emoji` dataset from the two npm packages that hold its pictures and words.

The package ships what this script writes, `emoji.npz` and `emoji_thumbnails.png`; the sources
are 80 MB and stay outside the repository. Anyone can repeat the build:

    npm install --prefix SOURCES emojibase-data@17.0.0 emoji-datasource-google@16.0.0
    python research/build_emoji.py SOURCES

A benchmark's data must not depend on the machine that built it. So every sum is taken over
integers, the only floating-point steps are divisions and square roots (which IEEE 754 rounds
one way), and the archive is stored without compression and without the time: the bytes of
`emoji.npz` follow from the sources alone. Of the thumbnails this holds for the pixels; the
bytes of a PNG are the compressor's choice.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

VERSIONS = {"emojibase-data": "17.0.0", "emoji-datasource-google": "16.0.0"}
PICTURE = 64  # side of a source picture, pixels
CELLS = 4  # gradient cells along a side
ORIENTATIONS = 9
QUADRANTS = 2  # colour blocks along a side
LEVELS = 4  # colour levels a channel
COMMON = 3  # a word is common if this many emoji have it
SHEET_COLUMNS = 44
DROPPED_GROUP = "component"  # skin tones and hair: parts of emoji, not emoji
DEFAULT_OUTPUT = Path(__file__).resolve().parent.parent / "hashbench" / "resources"

Pixels = NDArray[np.int64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Emoji:
    """One emoji as the sources describe it."""

    character: str
    name: str
    keywords: tuple[str, ...]
    group: str
    subgroup: str
    picture: Path


def find_package(sources: Path, name: str) -> Path:
    """Return the folder of one npm package, checked to be of the pinned version."""
    places = [sources / "node_modules" / name, sources / name]
    for place in places:
        if (place / "package.json").is_file():
            found = json.loads((place / "package.json").read_text("utf-8"))["version"]
            if found != VERSIONS[name]:
                raise SystemExit(f"{place}: version {found}; allowed: {VERSIONS[name]}")
            return place
    raise SystemExit(f"package {name} not found; looked in {places[0]} and {places[1]}")


def _code_points(hexcode: str) -> str:
    # The packages disagree about variation selectors; without them their keys coincide.
    return hexcode.upper().replace("-FE0F", "")


def read_emoji(sources: Path) -> list[Emoji]:
    """Return every emoji that has a group and a picture, in an order that says nothing.

    Unicode's own order goes group by group: whoever breaks ties by row, or takes the first rows,
    would contain the labels. Skin-tone variants are nested below their emoji in the source and so
    never appear.
    """
    words = find_package(sources, "emojibase-data")
    pictures = find_package(sources, "emoji-datasource-google")
    folder = pictures / "img" / "google" / "64"
    files = {
        _code_points(entry["unified"]): folder / entry["image"]
        for entry in json.loads((pictures / "emoji.json").read_text("utf-8"))
        if entry["has_img_google"]
    }
    names = json.loads((words / "meta" / "groups.json").read_text("utf-8"))
    entries = json.loads((words / "en" / "data.json").read_text("utf-8"))
    # Regional indicators, the letters that spell flags, have no group.
    grouped = [entry for entry in entries if "group" in entry]
    shuffled = sorted(grouped, key=lambda e: hashlib.sha256(e["hexcode"].encode()).digest())
    return [
        Emoji(
            character=entry["emoji"],
            name=entry["label"],
            keywords=tuple(entry.get("tags", ())),
            group=names["groups"][str(entry["group"])],
            subgroup=names["subgroups"][str(entry["subgroup"])],
            picture=files[_code_points(entry["hexcode"])],
        )
        for entry in shuffled
        if names["groups"][str(entry["group"])] != DROPPED_GROUP
        and _code_points(entry["hexcode"]) in files
    ]


def read_picture(path: Path) -> Pixels:
    """Return a picture laid on white: (64, 64, 3), integers 0 to 255."""
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGBA"), dtype=np.int64)
    if pixels.shape != (PICTURE, PICTURE, 4):
        raise SystemExit(f"{path}: shape {pixels.shape}; allowed: ({PICTURE}, {PICTURE}, 4)")
    alpha = pixels[..., 3:]
    return (pixels[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255


def oriented_gradients(pixels: Pixels) -> NDArray[np.float64]:
    """Return the histogram of oriented gradients of a picture, of unit length: (144,).

    Each of 4 x 4 cells sums the gradient magnitudes of its pixels by the nearest of nine
    directions; opposite directions count as one.
    """
    luma = np.pad(pixels @ np.array([299, 587, 114]), 1, mode="edge")
    right = luma[1:-1, 2:] - luma[1:-1, :-2]
    down = luma[2:, 1:-1] - luma[:-2, 1:-1]
    magnitude = np.rint(np.sqrt(right**2 + down**2)).astype(np.int64)
    # The nearest direction is the one with the largest projection; with the unit vectors in
    # thousandths this needs no arc tangent, whose last digit varies between machines.
    angles = np.arange(ORIENTATIONS) * np.pi / ORIENTATIONS
    cosine, sine = np.rint(1000 * np.stack([np.cos(angles), np.sin(angles)])).astype(np.int64)
    nearest = np.abs(right[..., None] * cosine + down[..., None] * sine).argmax(axis=-1)
    side = PICTURE // CELLS
    by_direction = magnitude[..., None] * (nearest[..., None] == np.arange(ORIENTATIONS))
    blocks = by_direction.reshape(CELLS, side, CELLS, side, ORIENTATIONS)
    cells: Counts = blocks.sum(axis=(1, 3)).ravel()
    length = math.sqrt(max(int(cells @ cells), 1))
    return cells / length


def colour_histograms(pixels: Pixels) -> NDArray[np.float64]:
    """Return the colours of the four quadrants of a picture: (256,).

    A quadrant is the square roots of the shares of its pixels in 4 x 4 x 4 boxes of RGB: the
    root keeps the white around a picture from outweighing the rest.
    """
    red, green, blue = np.moveaxis(pixels * LEVELS // 256, -1, 0)
    box = (red * LEVELS + green) * LEVELS + blue
    side = PICTURE // QUADRANTS
    inside = box[..., None] == np.arange(LEVELS**3)
    blocks = inside.reshape(QUADRANTS, side, QUADRANTS, side, LEVELS**3)
    counts: Counts = blocks.sum(axis=(1, 3)).ravel()
    return np.sqrt(counts / side**2)


def tokens(text: str) -> list[str]:
    """Return the words of a text, in lower case, without punctuation."""
    return re.findall(r"[^\W_]+", text.lower())


def choose_words(emoji: Sequence[Emoji]) -> tuple[list[str], list[list[int]]]:
    """Return the vocabulary, sorted, and for each emoji the ascending indices of its words.

    Only common words are kept; an emoji that has none keeps the words of its name, so that no
    row is empty. A word that is both in the name and among the keywords counts once.
    """
    bags = [set(tokens(" ".join((item.name, *item.keywords)))) for item in emoji]
    frequency = collections.Counter(word for bag in bags for word in bag)
    chosen = {word for word, count in frequency.items() if count >= COMMON}
    chosen |= {
        word
        for item, bag in zip(emoji, bags, strict=True)
        if not any(frequency[word] >= COMMON for word in bag)
        for word in tokens(item.name)
    }
    vocabulary = sorted(chosen)
    index = {word: position for position, word in enumerate(vocabulary)}
    return vocabulary, [sorted(index[word] for word in bag & chosen) for bag in bags]


def pack_strings(strings: Iterable[str]) -> NDArray[np.uint8]:
    """Return strings as the bytes of their UTF-8 lines; numpy's own arrays take 4 a character."""
    return np.frombuffer("\n".join(strings).encode("utf-8"), dtype=np.uint8)


def make_arrays(emoji: Sequence[Emoji], pictures: Sequence[Pixels]) -> dict[str, NDArray[Any]]:
    """Return the arrays of the dataset by name; words are the index part of a CSR matrix."""
    features = [np.concatenate([oriented_gradients(p), colour_histograms(p)]) for p in pictures]
    vocabulary, words = choose_words(emoji)
    groups = sorted({item.group for item in emoji})
    subgroups = sorted({item.subgroup for item in emoji})
    return {
        "image": np.array(features).astype("<f2"),
        "word_starts": np.cumsum([0, *map(len, words)]).astype("<i4"),
        "word_indices": np.concatenate(words).astype("<u2"),
        "vocabulary": pack_strings(vocabulary),
        "group": np.array([groups.index(item.group) for item in emoji], dtype="<u1"),
        "groups": pack_strings(groups),
        "subgroup": np.array([subgroups.index(item.subgroup) for item in emoji], dtype="<u1"),
        "subgroups": pack_strings(subgroups),
        "characters": pack_strings(item.character for item in emoji),
        "names": pack_strings(item.name for item in emoji),
        "sources": pack_strings(f"{name} {version}" for name, version in VERSIONS.items()),
    }


def write_npz(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays as an uncompressed .npz whose bytes depend on nothing but the arrays."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.create_system = 3  # else it tells Windows from Unix
            content = io.BytesIO()
            np.lib.format.write_array(content, array, version=(1, 0), allow_pickle=False)
            archive.writestr(member, content.getvalue())


def thumbnail_sheet(pictures: Sequence[Pixels]) -> NDArray[np.uint8]:
    """Return all pictures at half size, 44 to a row: item i is at (i // 44, i % 44).

    Sixteen levels a channel look the same at this size and halve the file.
    """
    side = PICTURE // 2
    rows = -(-len(pictures) // SHEET_COLUMNS)
    sheet = np.full((rows, side, SHEET_COLUMNS, side, 3), 255, dtype=np.uint8)
    for item, pixels in enumerate(pictures):
        mean = (pixels.reshape(side, 2, side, 2, 3).sum(axis=(1, 3)) + 2) // 4
        sheet[item // SHEET_COLUMNS, :, item % SHEET_COLUMNS] = (mean + 8) // 17 * 17
    return sheet.reshape(rows * side, SHEET_COLUMNS * side, 3)


def build(sources: Path, output: Path) -> list[Path]:
    """Read the two packages below `sources` and write the two files into `output`."""
    emoji = read_emoji(sources)
    pictures = [read_picture(item.picture) for item in emoji]
    output.mkdir(parents=True, exist_ok=True)
    features, sheet = output / "emoji.npz", output / "emoji_thumbnails.png"
    write_npz(features, make_arrays(emoji, pictures))
    Image.fromarray(thumbnail_sheet(pictures)).save(sheet, optimize=True)
    return [features, sheet]


def main() -> None:
    """Run the build from the command line and print what it wrote."""
    packages = " ".join(f"{name}@{version}" for name, version in VERSIONS.items())
    parser = argparse.ArgumentParser(
        description="Build the embedded emoji dataset, the same bytes from the same sources.",
        epilog=f"how to get the sources:\n  npm install --prefix SOURCES {packages}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sources", type=Path, help="folder into which npm put the two packages")
    parser.add_argument(
        "--output", type=Path, default=DEFAULT_OUTPUT, help="folder to write to; the package's own"
    )
    arguments = parser.parse_args()
    for path in build(arguments.sources, arguments.output):
        content = path.read_bytes()
        print(f"{path}  {len(content):,} bytes  sha256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
