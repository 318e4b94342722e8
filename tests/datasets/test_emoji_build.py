"""The embedded emoji dataset can be made again, byte for byte, from its sources."""

import hashlib
import importlib.util
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image", reason="the build needs pillow")

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "hashbench" / "resources"
SOURCES = os.environ.get("HASHBENCH_EMOJI_SOURCES")


@pytest.fixture(scope="module")
def builder():
    spec = importlib.util.spec_from_file_location(
        "build_emoji", ROOT / "research" / "build_emoji.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def entry(label, hexcode, group, subgroup, tags=(), **more):
    return {
        "label": label,
        "hexcode": hexcode,
        "tags": list(tags),
        "emoji": "".join(chr(int(point, 16)) for point in hexcode.split("-")),
        "group": group,
        "subgroup": subgroup,
        **more,
    }


ENTRIES = [
    {"label": "regional indicator A", "hexcode": "1F1E6", "emoji": "🇦"},
    entry("red heart", "2764", 0, 1, ["heart", "love", "red"]),
    entry("green heart", "1F49A", 0, 1, ["heart", "love"], skins=[{"hexcode": "1F49B"}]),
    entry("heart face", "1F600", 0, 0, ["love", "LOVE"]),
    entry("light skin tone", "1F3FB", 1, 2, ["heart"]),
    entry("abacus", "1F9EE", 2, 3, ["calculator"]),
    entry("unseen heart", "1FAEA", 2, 3, ["love"]),
]
GROUPS = {
    "groups": {"0": "smileys-emotion", "1": "component", "2": "objects"},
    "subgroups": {"0": "face-smiling", "1": "heart", "2": "skin-tone", "3": "science"},
}
PICTURES = {  # by code points; the other package writes a variation selector where it may
    "1F3FB": ("1f3fb.png", "RGB"),
    "1F600": ("1f600.png", "RGBA"),
    "1F49A": ("1f49a.png", "LA"),
    "2764-FE0F": ("2764-fe0f.png", "P"),
    "1F9EE": ("1f9ee.png", "RGB"),
}


def pattern(mode):
    """Return a picture with edges, colours and transparency, different for each mode."""
    down, right = np.mgrid[:64, :64]
    channels = [3 * down + right, right * down // 16, 255 - 2 * right, 4 * right]
    pixels = (np.stack(channels, axis=-1) % 256).astype(np.uint8)
    if mode == "P":
        image = Image.fromarray(pixels[..., 1] // 32)
        image.putpalette([31 * channel for channel in range(8) for _ in range(3)])
        return image
    return Image.fromarray(pixels).convert(mode)


@pytest.fixture
def sources(tmp_path, builder):
    words = tmp_path / "node_modules" / "emojibase-data"
    pictures = tmp_path / "node_modules" / "emoji-datasource-google"
    for package in (words, pictures):
        package.mkdir(parents=True)
        version = {"version": builder.VERSIONS[package.name]}
        (package / "package.json").write_text(json.dumps(version))
    for name, content in (("en/data.json", ENTRIES), ("meta/groups.json", GROUPS)):
        (words / name).parent.mkdir()
        (words / name).write_text(json.dumps(content))
    folder = pictures / "img" / "google" / "64"
    folder.mkdir(parents=True)
    rows = []
    for unified, (file, mode) in PICTURES.items():
        pattern(mode).save(folder / file)
        rows.append({"unified": unified, "image": file, "has_img_google": True})
    (pictures / "emoji.json").write_text(json.dumps(rows))
    return tmp_path


def lines(array):
    return array.tobytes().decode().split("\n")


def test_small_build_has_known_bytes(builder, sources, tmp_path):
    features, sheet = builder.build(sources, tmp_path / "new" / "folder")
    first = features.read_bytes()
    with Image.open(sheet) as image:
        pixels = np.asarray(image)
    assert (
        hashlib.sha256(first).hexdigest()
        == "061b0abf766ed88464aea3e8071dc34c1491993444b1364e6017f1cb5cf90713"
    )
    assert (
        hashlib.sha256(pixels.tobytes()).hexdigest()
        == "6e03c61114bc4391bfbebc62cbb07785213b3e66e9139d5d9ae91896902d626e"
    )
    assert builder.build(sources, tmp_path)[0].read_bytes() == first


def test_small_build_has_the_expected_content(builder, sources, tmp_path):
    with np.load(builder.build(sources, tmp_path)[0]) as arrays:
        content = dict(arrays)
    assert lines(content["names"]) == ["green heart", "heart face", "abacus", "red heart"]
    assert lines(content["characters"]) == ["💚", "😀", "🧮", "❤"]
    assert lines(content["groups"]) == ["objects", "smileys-emotion"]
    assert content["group"].tolist() == [1, 1, 0, 1]
    assert lines(content["subgroups"]) == ["face-smiling", "heart", "science"]
    assert content["subgroup"].tolist() == [1, 0, 2, 1]
    # `heart` and `love` are common; the abacus has no common word and keeps its name.
    assert lines(content["vocabulary"]) == ["abacus", "heart", "love"]
    assert content["word_starts"].tolist() == [0, 2, 4, 5, 7]
    assert content["word_indices"].tolist() == [1, 2, 1, 2, 0, 1, 2]
    assert content["image"].shape == (4, 144 + 256)
    assert content["image"].dtype == np.float16


def test_gradients_name_the_direction_of_an_edge(builder):
    picture = np.zeros((64, 64, 3), dtype=np.int64)
    picture[:, 40:] = 255
    cells = builder.oriented_gradients(picture).reshape(4, 4, 9)
    assert np.linalg.norm(cells) == pytest.approx(1)
    assert cells[:, 2, 0] == pytest.approx(0.5)  # an upright edge, direction 0, third column
    turned = builder.oriented_gradients(picture.transpose(1, 0, 2)).reshape(4, 4, 9)
    # 90 degrees lies between directions 4 and 5; the first of the two takes it.
    assert turned[2, :, 4] == pytest.approx(0.5)
    assert not builder.oriented_gradients(np.zeros_like(picture)).any()


def test_colours_are_shares_of_each_quadrant(builder):
    picture = np.full((64, 64, 3), 255, dtype=np.int64)
    picture[:32, :16] = [200, 0, 0]
    quadrants = builder.colour_histograms(picture).reshape(4, 64) ** 2
    assert quadrants.sum(axis=1) == pytest.approx(1)
    assert quadrants[0, [63, 48]] == pytest.approx([0.5, 0.5])
    assert quadrants[1:, 63] == pytest.approx(1)


def test_transparent_pixels_are_white(builder, tmp_path):
    pixels = np.zeros((64, 64, 4), dtype=np.uint8)
    pixels[32:] = [10, 20, 30, 255]
    Image.fromarray(pixels).save(tmp_path / "half.png")
    picture = builder.read_picture(tmp_path / "half.png")
    assert (picture[:32] == 255).all()
    assert (picture[32:] == [10, 20, 30]).all()


def test_another_version_of_a_source_is_refused(builder, sources):
    manifest = sources / "node_modules" / "emojibase-data" / "package.json"
    manifest.write_text('{"version": "1.0.0"}')
    with pytest.raises(SystemExit, match=r"emojibase-data.*1\.0\.0.*17\.0\.0"):
        builder.read_emoji(sources)
    manifest.unlink()
    with pytest.raises(SystemExit, match="emojibase-data not found"):
        builder.read_emoji(sources)


@pytest.mark.skipif(not SOURCES, reason="HASHBENCH_EMOJI_SOURCES is unset")
def test_full_build_is_what_ships(builder, tmp_path):
    features, sheet = builder.build(Path(SOURCES), tmp_path)
    assert features.read_bytes() == (SHIPPED / features.name).read_bytes()
    with Image.open(sheet) as built, Image.open(SHIPPED / sheet.name) as shipped:
        assert np.array_equal(np.asarray(built), np.asarray(shipped))
