"""What an archive declares is compared with what it holds, before anything is allocated."""

import io
import zipfile

import numpy as np
import pytest

from hashbench.core.npz import declared_arrays, read_arrays


def header(shape, version=(1, 0), kind="<f8"):
    stream = io.BytesIO()
    write = {
        (1, 0): np.lib.format.write_array_header_1_0,
        (2, 0): np.lib.format.write_array_header_2_0,
    }[version]
    write(stream, {"shape": shape, "fortran_order": False, "descr": kind})
    return stream.getvalue()


def archive(path, content, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("x.npy", content)
    return path


def test_shapes_and_types_by_name(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, image=np.zeros((300, 4), np.float32), labels=np.arange(3))
    found = declared_arrays(path)
    assert found == {"image": ((300, 4), np.float32), "labels": ((3,), np.int64)}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_are_read_as_numpy_reads_them(tmp_path, save):
    path = tmp_path / "a.npz"
    rng = np.random.default_rng(0)
    arrays = {
        "wide": rng.standard_normal((3, 40_000)),
        "turned": np.asfortranarray(rng.standard_normal((4, 5))),
        "texts": np.array(["a", "\U0001facf"]),
        "number": np.asarray(7),
        "nothing": np.empty((0, 3), np.float32),
        "flags": np.array([True, False]),
    }
    save(path, **arrays)
    found = read_arrays(path)
    with np.load(path) as right:
        assert list(found) == right.files
        for name in found:
            np.testing.assert_array_equal(found[name], right[name])
            assert (found[name].dtype, found[name].strides) == (
                right[name].dtype,
                right[name].strides,
            )
    found["wide"][0, 0] = 1  # whoever reads them may change them


def test_objects_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.array([{}], object))
    with pytest.raises(ValueError, match=r"x.*objects"):
        read_arrays(tmp_path / "a.npz")


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_headers_of_both_versions_are_read(tmp_path, version):
    path = archive(tmp_path / "a.npz", header((2,), version) + bytes(16))
    assert declared_arrays(path) == {"x": ((2,), np.float64)}


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (header((1 << 40,)) + bytes(16), r"x .*8796093022208 .*\b16\b"),
        (header((3,)) + bytes(16), r"x .*\b24 .*\b16\b"),
        (header((-1,)) + bytes(16), r"\(-1,\)"),
        (header((2,))[:9], "x.npy|EOF"),
        (b"", "x.npy|EOF"),
    ],
)
def test_arrays_that_do_not_fit_the_file_are_refused(tmp_path, content, facts, compression):
    for read in (declared_arrays, read_arrays):
        with pytest.raises(ValueError, match=facts):
            read(archive(tmp_path / "a.npz", content, compression))


def test_an_encrypted_archive_is_refused(tmp_path):
    path = archive(tmp_path / "a.npz", header((2,)) + bytes(16))
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1  # the flag in the central directory
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"x\.npy.*encrypted"):
        declared_arrays(path)
