"""From pictures and sentences to a dataset: what is written, skipped and resumed."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from hashbench import HashbenchError
from hashbench.data.features import embed as module
from hashbench.data.features.embed import embed
from hashbench.data.features.encoders import load_encoder
from hashbench.data.features.pairs import read_pairs
from hashbench.data.formats import load_file

COLOURS = ("red", "green", "blue", "orange", "purple")
SHAPES = ("circle", "square")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Fifty pictures of shapes with captions, listed in pairs.csv."""
    folder, rng = tmp_path_factory.mktemp("drawn"), np.random.default_rng(0)
    rows = []
    for index in range(50):
        colour, shape = COLOURS[index % 5], SHAPES[index % 2]
        picture = Image.new("RGB", (80, 60), "white")
        x, y = rng.integers(2, 30, 2)
        draw = ImageDraw.Draw(picture)
        box = [x, y, x + 26, y + 26]
        draw.ellipse(box, fill=colour) if shape == "circle" else draw.rectangle(box, fill=colour)
        picture.save(folder / f"{index}.png")
        rows.append((f"{index}.png", f"a {colour} {shape}", f"{colour}|{shape}"))
    with (folder / "pairs.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("image", "text", "labels"), *rows])
    return folder


def test_a_csv_of_pictures_becomes_a_dataset_that_runs(hashbench, folder, tmp_path):
    output = tmp_path / "mine.npz"
    done = hashbench("data", "embed", folder / "pairs.csv", "-o", output)
    assert done.returncode == 0
    assert "50 rows" in done.stdout
    data = load_file(output)
    assert [X.shape for X in data.views] == [(50, 192), (50, 7)]
    assert data.label_names == tuple(sorted((*COLOURS, *SHAPES)))
    assert data.strings[0] == "a red circle"
    assert not output.with_name("mine.npz.partial").exists()
    assert "encoder gradients" in hashbench("data", "describe", output).stdout
    run = ["run", "-m", "cca", "-d", output, "-b", "8", "-s", "1", "--no-report"]
    assert hashbench(*run, "-o", tmp_path / "out").returncode == 0


def test_the_recipe_enters_the_fingerprint(folder, tmp_path):
    embed(read_pairs(folder / "pairs.csv"), tmp_path / "a.npz", "gradients", "bow")
    data = load_file(tmp_path / "a.npz")
    recipe = json.loads(data.recipe)
    assert recipe["image"]["encoder"] == "gradients"
    assert recipe["text"]["encoder"] == "bow"
    other = load_file(tmp_path / "a.npz")
    other.recipe = ""
    assert other.fingerprint != data.fingerprint


@pytest.mark.parametrize("labelled_by", ["folders", "files"])
def test_a_folder_with_texts_beside_the_pictures(folder, tmp_path, labelled_by):
    for index in range(4):
        colour = COLOURS[index % 2]
        target = tmp_path / (colour if labelled_by == "folders" else ".")
        target.mkdir(exist_ok=True)
        (target / f"{index}.png").write_bytes((folder / f"{index}.png").read_bytes())
        (target / f"{index}.txt").write_text(f"{colour} thing\n")
        if labelled_by == "files":
            (target / f"{index}.labels").write_text(f"{colour}\nthing\n")
    pairs = read_pairs(tmp_path)
    assert len(pairs) == 4
    expected = {("red",), ("green",)}
    if labelled_by == "files":
        expected = {("red", "thing"), ("green", "thing")}
    assert {pair.labels for pair in pairs} == expected
    assert {pair.text for pair in pairs} == {"red thing", "green thing"}


def test_unreadable_pictures_are_skipped_with_a_count(hashbench, folder, tmp_path):
    for name in ("0.png", "1.png"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "2.png").write_bytes((folder / "2.png").read_bytes()[:100])
    (tmp_path / "pairs.csv").write_text(
        "image,text,labels\n0.png,red circle,a\n1.png,green square,b\n2.png,x,a\n3.png,y,a\n"
    )
    output = tmp_path / "mine.npz"
    done = hashbench("data", "embed", tmp_path / "pairs.csv", "-o", output)
    assert done.returncode == 0
    assert load_file(output).n_rows == 2
    assert "skipped 2" in done.stderr
    assert "3.png" in done.stderr


def test_a_missing_column_is_named(tmp_path):
    (tmp_path / "pairs.csv").write_text("image,caption,labels\na.png,b,c\n")
    with pytest.raises(HashbenchError, match=r"'text'.*caption"):
        read_pairs(tmp_path / "pairs.csv")


def test_thumbnails_are_stored_for_the_page(folder, tmp_path):
    pairs = read_pairs(folder / "pairs.csv")
    embed(pairs, tmp_path / "a.npz", "gradients", "tfidf", thumbnails=True)
    sheet = load_file(tmp_path / "a.npz").pictures
    assert (sheet.size, sheet.columns) == (module.THUMBNAIL, 8)
    assert sheet.png.startswith(b"\x89PNG")


def test_an_encoder_of_ones_own_is_a_file_with_two_functions(folder, tmp_path):
    (tmp_path / "mean.py").write_text(
        "import numpy as np\n"
        "def load(name):\n    return None, {'version': '1', 'preprocessing': 'none'}\n"
        "def encode(model, items):\n"
        "    return np.stack([np.asarray(item, float).mean((0, 1)) for item in items])\n"
    )
    pairs = read_pairs(folder / "pairs.csv")
    found = embed(pairs, tmp_path / "a.npz", str(tmp_path / "mean.py"), "bow")
    assert found.columns == (3, 7)


def test_an_unknown_encoder_is_named():
    with pytest.raises(HashbenchError, match=r"'gradient'.*'gradients'"):
        load_encoder("gradient", "image")


KILLED = """
import os, signal, sys
from pathlib import Path
from hashbench.data.features import embed, gradients
from hashbench.data.features.pairs import read_pairs
encode, calls = gradients.encode, []
def killed(model, items):
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return encode(model, items)
gradients.encode = killed
embed.embed(read_pairs(Path(sys.argv[1])), Path(sys.argv[2]), "gradients", "bow", batch_size=8)
"""


def test_a_killed_run_continues_and_gives_the_same_file(folder, tmp_path, monkeypatch):
    pairs = read_pairs(folder / "pairs.csv")
    embed(pairs, tmp_path / "a.npz", "gradients", "bow", batch_size=8)
    resumed = tmp_path / "b.npz"
    arguments = [sys.executable, "-c", KILLED, str(folder / "pairs.csv"), str(resumed)]
    assert subprocess.run(arguments, check=False).returncode == -9
    assert not resumed.exists()
    calls = []
    encode = module.load_encoder("gradients", "image").module.encode
    monkeypatch.setattr(
        "hashbench.data.features.gradients.encode",
        lambda model, items: calls.append(len(items)) or encode(model, items),
    )
    embed(pairs, resumed, "gradients", "bow", batch_size=8)
    assert sum(calls) == 50 - 2 * 8
    assert resumed.read_bytes() == (tmp_path / "a.npz").read_bytes()


#: Vectors of the recipe in COCO's features: two drawn pictures and two sentences.
STORED = "embedded.npz"


@pytest.mark.torch
def test_pretrained_encoders_give_the_stored_vectors(folder, tmp_path):
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("tokenizers")
    rows = "image,text,labels\n"
    for index, text in enumerate(["a red circle", "a green square on white paper"]):
        (tmp_path / f"{index}.png").write_bytes((folder / f"{index}.png").read_bytes())
        rows += f"{index}.png,{text},{index}\n"
    (tmp_path / "pairs.csv").write_text(rows)
    embed(read_pairs(tmp_path / "pairs.csv"), tmp_path / "a.npz", "efficientnet-lite0", "wordllama")
    found = load_file(tmp_path / "a.npz").views
    with np.load(Path(__file__).with_name(STORED)) as stored:
        for X, name in zip(found, ("image", "text"), strict=True):
            Z = stored[name].astype(np.float32)
            cosine = (X * Z).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Z, axis=1)
            assert (cosine > 0.9999).all(), name


@pytest.mark.torch
def test_open_clip_models_by_name(folder, tmp_path):
    open_clip = pytest.importorskip("open_clip")
    import torch

    config = {
        "embed_dim": 8,
        "vision_cfg": {
            "image_size": 32,
            "layers": 1,
            "width": 16,
            "head_width": 8,
            "patch_size": 16,
        },
        "text_cfg": {
            "context_length": 16,
            "vocab_size": 49408,
            "width": 8,
            "heads": 1,
            "layers": 1,
        },
    }
    torch.manual_seed(0)
    network = open_clip.CLIP(**config)
    torch.save(network.state_dict(), tmp_path / "open_clip_pytorch_model.bin")
    about = {"model_cfg": config, "preprocess_cfg": {}}
    (tmp_path / "open_clip_config.json").write_text(json.dumps(about))
    name = f"open-clip/local-dir:{tmp_path}"
    found = embed(read_pairs(folder / "pairs.csv"), tmp_path / "a.npz", name, name)
    assert found.columns == (8, 8)
    data = load_file(tmp_path / "a.npz")
    assert len(json.loads(data.recipe)["image"]["weights"]) == 64
    text = network.encode_text(
        open_clip.get_tokenizer("ViT-B-32", context_length=16)(["a red circle"])
    )
    np.testing.assert_allclose(data.views[1][0], text.detach().numpy()[0], atol=1e-5)


@pytest.mark.torch
def test_sentence_transformers_by_name(folder, tmp_path):
    package = pytest.importorskip("sentence_transformers")
    modules = pytest.importorskip("sentence_transformers.models")
    tokenizers = pytest.importorskip("tokenizers")
    words = ("a", "[UNK]", *COLOURS, *SHAPES)
    vocabulary = {word: index for index, word in enumerate(words)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(0).random((len(words), 8), np.float32)
    model = modules.StaticEmbedding(tokenizer, embedding_weights=vectors)
    package.SentenceTransformer(modules=[model]).save(str(tmp_path / "model"))
    name = f"sentence-transformers/{tmp_path / 'model'}"
    embed(read_pairs(folder / "pairs.csv"), tmp_path / "a.npz", "gradients", name)
    expected = vectors[[vocabulary[word] for word in ("a", "red", "circle")]].mean(axis=0)
    np.testing.assert_allclose(load_file(tmp_path / "a.npz").views[1][0], expected, atol=1e-6)


def test_items_without_labels(folder, tmp_path):
    (folder / "bare.csv").write_text("image,text\n0.png,red circle\n1.png,green square\n")
    pairs = read_pairs(folder / "bare.csv")
    embed(pairs, tmp_path / "mine.npz", image="gradients", text="bow")
    data = load_file(tmp_path / "mine.npz")
    assert not data.has_labels
    assert [len(X) for X in data.views] == [2, 2]
