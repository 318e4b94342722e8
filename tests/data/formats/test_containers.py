"""Every container and every role: the same data whichever way they are handed over."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.io

from hashbench.cli import main
from hashbench.core.errors import HashbenchError
from hashbench.data.formats import load_file, parse_file_selection
from hashbench.plugins.selection import split_items

RNG = np.random.default_rng(0)
IMAGE, TEXT = RNG.random((30, 6)), RNG.integers(0, 5, (30, 4)).astype(float)
AUDIO = RNG.random((30, 3))
NUMBERS = np.arange(30) % 3
WORDS = np.array(["bird", "cat", "dog"])[NUMBERS]
COLUMNS = np.eye(3)[NUMBERS]


def write_csv_with_header(path, value):
    pd.DataFrame(value, columns=[f"c{k}" for k in range(np.atleast_2d(value).shape[1])]).to_csv(
        path
    )


def write_csv_plain(path, value):
    np.savetxt(path, value, delimiter=",")


def write_tsv(path, value):
    np.savetxt(path, value, delimiter="\t")


def write_txt(path, value):
    np.savetxt(path, value)


def write_parquet(path, value):
    pd.DataFrame(value).rename(columns=str).to_parquet(path)


def write_mat(path, value):
    scipy.io.savemat(path, {"anything": value})


def write_npz(path, value):
    np.savez(path, value)


def write_pickle(path, value):
    path.write_bytes(pickle.dumps(value))


WRITERS = {
    "a.npy": np.save, "headed.csv": write_csv_with_header, "plain.csv": write_csv_plain,
    "a.tsv": write_tsv, "a.txt": write_txt, "a.parquet": write_parquet, "a.mat": write_mat,
    "a.npz": write_npz, "a.pkl": write_pickle,
}  # fmt: skip


@pytest.mark.parametrize("container", WRITERS)
@pytest.mark.parametrize("role", ["image", "text", "labels"])
def test_a_container_in_a_role(tmp_path, container, role):
    values = {"image": IMAGE, "text": TEXT, "labels": COLUMNS}
    places = {}
    for each, value in values.items():
        place = tmp_path / each / (container if each == role else "plain.npy")
        place.parent.mkdir()
        (WRITERS[container] if each == role else np.save)(place, value)
        places[each] = place
    text = "ours=" + ",".join(f"{each}:{place}" for each, place in places.items())
    assert split_items(text + ",wiki") == [text, "wiki"]
    name, dataset = parse_file_selection(text)
    data = dataset.load()
    assert name == dataset.name == "ours"
    np.testing.assert_allclose(data.views[0], IMAGE)
    np.testing.assert_allclose(data.views[1], TEXT)
    np.testing.assert_array_equal(data.labels, COLUMNS)
    assert dataset.default_protocol() == "default"


@pytest.mark.parametrize(
    ("file", "write"),
    [
        ("y.npy", lambda path: np.save(path, WORDS)),
        ("y.csv", lambda path: path.write_text("label\n" + "\n".join(WORDS) + "\n")),
        ("y.txt", lambda path: path.write_text("\n".join(WORDS) + "\n")),
        ("y.parquet", lambda path: pd.DataFrame({"kind": WORDS}).to_parquet(path)),
        ("y.npz", lambda path: np.savez(path, WORDS)),
    ],
)
def test_labels_in_words(tmp_path, file, write):
    np.save(tmp_path / "image.npy", IMAGE)
    np.save(tmp_path / "text.npy", TEXT)
    write(tmp_path / file)
    roles = f"image:{tmp_path}/image.npy,text:{tmp_path}/text.npy,labels:{tmp_path}/{file}"
    data = parse_file_selection(f"ours={roles}")[1].load()
    assert data.label_names == ("bird", "cat", "dog")
    np.testing.assert_array_equal(data.labels, COLUMNS)


@pytest.mark.parametrize("called", ["id", "ID", "index", ""])
def test_names_of_rows_are_no_feature(tmp_path, called):
    rows = pd.Index(range(len(IMAGE)), name=called)
    pd.DataFrame(IMAGE, rows).to_csv(tmp_path / "image.csv")
    pd.DataFrame(TEXT, [f"item{row}" for row in rows]).to_csv(
        tmp_path / "t.csv", index_label=called
    )
    pd.DataFrame({"kind": WORDS}, rows).to_csv(tmp_path / "y.csv")
    roles = f"image:{tmp_path}/image.csv,text:{tmp_path}/t.csv,labels:{tmp_path}/y.csv"
    data = parse_file_selection(f"ours={roles}")[1].load()
    np.testing.assert_allclose(data.views[0], IMAGE)
    np.testing.assert_allclose(data.views[1], TEXT)
    np.testing.assert_array_equal(data.labels, COLUMNS)


@pytest.mark.parametrize("container", ["npz", "mat", "h5", "pkl", "parquet"])
def test_the_suites_own_names_and_nothing_else(tmp_path, container):
    path = tmp_path / f"mine.{container}"
    values = {"image": IMAGE, "text": TEXT, "labels": NUMBERS}
    if container == "npz":
        np.savez(path, **values)
    elif container == "mat":
        scipy.io.savemat(path, values)
    elif container == "h5":
        import h5py

        with h5py.File(path, "w") as file:
            for name, value in values.items():
                file[name] = value
    elif container == "pkl":
        write_pickle(path, values)
    else:
        pd.DataFrame({k: list(v) for k, v in values.items()}).to_parquet(path)
    data = load_file(path)
    np.testing.assert_array_equal(data.views[0], IMAGE)
    np.testing.assert_array_equal(data.labels, COLUMNS)
    assert "image=image, text=text, labels=labels" in data.notes[0]


def test_a_folder_with_a_file_a_role(tmp_path):
    np.save(tmp_path / "image.npy", IMAGE)
    np.savetxt(tmp_path / "text.csv", TEXT, delimiter=",")
    np.save(tmp_path / "labels.npy", WORDS)
    np.save(tmp_path / "audio.npy", AUDIO)
    data = parse_file_selection(f"{tmp_path}[views=image+text]")[1].load()
    assert data.view_names == ("image", "text")
    assert "audio" in data.notes[1]
    several = parse_file_selection(f"{tmp_path}[views=image+text+audio]")[1].load()
    assert several.view_names == ("image", "text", "audio")
    np.testing.assert_array_equal(several.views[2], AUDIO)


def test_any_number_of_views(tmp_path):
    np.savez(tmp_path / "f.npz", a=IMAGE, b=TEXT, c=AUDIO, y=NUMBERS)
    data = load_file(tmp_path / "f.npz", {"views": "a+b+c", "labels": "y"})
    assert data.view_names == ("a", "b", "c")
    np.savez(
        tmp_path / "g.npz", image=IMAGE, text=TEXT, audio=AUDIO, labels=NUMBERS,
        view_names=["image", "text", "audio"], label_names=["x", "y", "z"],
        train=np.arange(10, 30), query=np.arange(10),
    )  # fmt: skip
    data = load_file(tmp_path / "g.npz")
    assert (len(data.views), data.label_names) == (3, ("x", "y", "z"))
    assert list(data.given["query"]) == list(range(10))


def test_three_files_of_pickled_arrays(tmp_path):
    """What UCMFH and BiLGSEH read: a pickle for each part of the split."""
    for part, rows in {
        "train": slice(0, 10),
        "query": slice(10, 14),
        "retrieval": slice(14, 30),
    }.items():
        content = {"image": IMAGE[rows], "text": TEXT[rows], "label": COLUMNS[rows].astype(int)}
        (tmp_path / f"{part}.pkl").write_bytes(pickle.dumps(content, protocol=2))
    for place in (tmp_path, tmp_path / "query.pkl"):
        data = load_file(place)
        assert {part: len(rows) for part, rows in data.given.items()} == {
            "train": 10, "query": 4, "database": 16,
        }  # fmt: skip
        np.testing.assert_array_equal(data.views[0], IMAGE)


def test_sephs_names_over_three_files(tmp_path):
    """What CIRH reads."""
    for part, short, rows in (("train", "tr", slice(0, 10)), ("query", "te", slice(10, 14)),
                              ("database", "db", slice(14, 30))):  # fmt: skip
        values = {f"I_{short}": IMAGE[rows], f"T_{short}": TEXT[rows], f"L_{short}": COLUMNS[rows]}
        scipy.io.savemat(tmp_path / f"mir_{part}.mat", values)
    for place in (tmp_path, tmp_path / "mir_train.mat"):
        data = load_file(place)
        assert sorted(data.given) == ["database", "query", "train"]
        np.testing.assert_array_equal(data.views[1], TEXT)


def test_arrays_and_row_numbers(tmp_path):
    """What DGCPN reads."""
    folder = tmp_path / "flickr"
    folder.mkdir()
    np.save(folder / "flickr_vgg19.npy", IMAGE)
    np.save(folder / "tags.npy", TEXT)
    np.save(folder / "label.npy", COLUMNS)
    rows = {"test": np.arange(5), "val": np.arange(5, 8), "train": np.arange(8, 20)}
    for part, numbers in {**rows, "database": np.arange(8, 30)}.items():
        np.save(folder / f"{part}_num.npy", numbers)
    data = load_file(folder)
    assert "DGCPN" in data.notes[0]
    assert list(data.given["query"]) == [0, 1, 2, 3, 4]
    assert len(data.given["database"]) == 22


def test_arrays_in_pieces(tmp_path):
    """What DGCPN reads for Wiki: object arrays of pieces, class numbers, validation rows first."""
    rng = np.random.default_rng(1)
    for part, n in (("train", 30), ("test", 240)):
        for what, width in (("feature_vgg19", 6), ("txt", 4), ("label", 0)):
            value = rng.integers(0, 3, n) if width == 0 else rng.random((n, width))
            pieces = np.empty(2, object)
            pieces[:] = [value[:7], value[7:]]
            np.save(tmp_path / f"{part}_{what}.npy", pieces, allow_pickle=True)
    data = load_file(tmp_path)
    assert data.views[0].shape == (270, 6)
    assert list(data.given["query"]) == list(range(30 + 231, 270))


def complaint(text, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["data", "describe", text])
    out, err = capsys.readouterr()
    assert (stop.value.code, out, err.count("\n")) == (2, "", 1)
    return err


class Evil:
    def __reduce__(self):
        return (print, ("the pickle ran",))


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (pickle.dumps({"image": Evil()}), ["builtins.print", "NumPy"]),
        (pickle.dumps({"image": pd.DataFrame(IMAGE)}), ["pandas.DataFrame", "NumPy"]),
        (pickle.dumps({"image": IMAGE})[:200], ["truncated"]),
        (b"", ["Ran out of input"]),  # pickle's own words
        (pickle.dumps({"image": IMAGE, "text": TEXT}), ["layout", "labels=NAME"]),
        (pickle.dumps({"image": IMAGE, "text": {}, "label": COLUMNS}), ["text", "object"]),
    ],
)
def test_pickles_without_arrays_are_refused(tmp_path, capsys, content, facts):
    (tmp_path / "f.pkl").write_bytes(content)
    line = complaint(str(tmp_path / "f.pkl"), capsys)
    assert all(fact in line for fact in ("f.pkl", *facts)), line


#: Part of the line of a file that cannot be read: the kinds of files that can.
READABLE = [".mat", ".parquet"]
#: File name -> how the file is written, and what the line must name besides the file.
BAD = {
    "f.npy": (lambda path: np.save(path, IMAGE), ["f (30 x 6 float64)", "image:f.npy"]),
    "g.npy": (lambda path: path.write_bytes(b"\x93NUMPY\x01"), READABLE),
    "o.npy": (
        lambda path: np.save(path, np.array([{}, {}]), allow_pickle=True),
        ["o (2 object)", "image=NAME"],
    ),
    "f.csv": (lambda path: path.write_text("1,2\n3,4,5\n"), READABLE),
    "e.csv": (lambda path: path.write_text(""), READABLE),
    "f.parquet": (lambda path: path.write_bytes(b"PAR1 but not really"), READABLE),
    "n.npz": (
        lambda path: np.savez(path, image=IMAGE, text=TEXT, labels=NUMBERS, query=np.array([99])),
        ["query", "0 to 29"],
    ),
    "d.npz": (
        lambda path: np.savez(path, image=IMAGE.reshape(30, 2, 3), text=TEXT, labels=NUMBERS),
        ["image", "30 x 2 x 3"],
    ),
}


@pytest.mark.parametrize("file", BAD)
def test_bad_files_are_reported_in_one_line(tmp_path, capsys, file):
    write, facts = BAD[file]
    write(tmp_path / file)
    line = complaint(str(tmp_path / file), capsys)
    assert all(fact in line for fact in (file, *facts)), line


def test_names_of_views_must_be_variables(tmp_path, capsys):
    path = tmp_path / "v.npz"
    np.savez(path, image=IMAGE, text=TEXT, labels=NUMBERS, view_names=["a", "b"])
    line = complaint(str(path), capsys)
    assert all(fact in line for fact in ("view_names", "'a'", "image (30 x 6 float64)")), line


WHOLE = "ours=image:i.npy,text:t.npy,labels:y.npy"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("ours=image:i.npy,text:t.npy", ["image, text", "labels"]),
        ("ours=image:i.npy,text:none.npy,labels:y.npy", ["text", "'none.npy'"]),
        ("ours=image:i.npy,image:t.npy,labels:y.npy", ["image twice"]),
        ("image:i.npy,text:t.npy,labels:y.npy", ["NAME=image:i.npy"]),
        ("ours=image:i.npy,text:t.npy,labels:short.npy", ["image 30 x 6", "labels 9"]),
        ("ours=image:i.npy,text:two.npz,labels:y.npy", ["b (30 x 4 float64)", "text:two.npz:NAME"]),
        ("ours=image:i.npy,text:two.npz:c,labels:y.npy", ["a (30 x 6 float64)", "b (30 x 4"]),
        (f"{WHOLE}[image=X]", ["image:FILE:NAME"]),
        (f"{WHOLE}[query=0]", ["query", "0 of 30 rows"]),
        (f"{WHOLE}[query=x.npy]", ["query", "'x.npy'", "last-N"]),
        (f"{WHOLE}[query=rows.npy]", ["query", "rows.npy", "0 to 29"]),
        (f"{WHOLE}[query=i.npy]", ["query", "i.npy", "0 to 29"]),
        (f"{WHOLE}[query=5,protocol=random]", ["ours", "protocol=random", "query=5"]),
        (f"{WHOLE}[preprocess=img:l2]", ["view", "'img'", "'image'"]),
        (f"{WHOLE}[preprocess=image:l3]", ["'l3'", "centre, l2, none"]),
        (f"{WHOLE}[permutation=1]", ["permutation", "query=N", "database="]),
    ],
)
def test_bad_roles_are_reported_in_one_line(tmp_path, capsys, monkeypatch, text, facts):
    monkeypatch.chdir(tmp_path)
    np.save("i.npy", IMAGE)
    np.save("t.npy", TEXT)
    np.save("y.npy", NUMBERS)
    np.save("short.npy", NUMBERS[:9])
    np.save("rows.npy", [0, 30])
    np.savez("two.npz", a=IMAGE, b=TEXT)
    line = complaint(text, capsys)
    assert all(fact in line for fact in facts), line


def test_a_variable_of_a_file_in_a_role(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("two.npz", a=IMAGE, b=TEXT, y=NUMBERS)
    data = parse_file_selection("o=image:two.npz:a,text:two.npz:b,labels:two.npz:y")[1].load()
    np.testing.assert_array_equal(data.views[1], TEXT)


def test_objects_in_an_archive_are_not_unpickled(tmp_path):
    np.savez(tmp_path / "f.npz", image=IMAGE, text=np.array([Evil()] * 30), labels=NUMBERS)
    with pytest.raises(HashbenchError, match=r"f\.npz.*text.*30 object"):
        load_file(tmp_path / "f.npz")
