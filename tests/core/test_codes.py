import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from hashbench.core import codes as module
from hashbench.core.codes import as_codes, as_words, n_words, pack, unpack
from hashbench.core.errors import HashbenchError

code_arrays = npst.arrays(
    np.bool_, st.tuples(st.integers(1, 5), st.integers(1, 200)), elements=st.booleans()
)


@given(code_arrays)
def test_unpack_undoes_pack(codes):
    words = pack(codes)
    assert words.dtype == np.uint64
    assert words.shape == (len(codes), n_words(codes.shape[1]))
    assert np.array_equal(unpack(words, codes.shape[1]), codes)


@given(code_arrays)
def test_every_form_means_the_same_code(codes):
    n_bits = codes.shape[1]
    signs = np.where(codes, 1, -1)
    forms = [codes, codes.astype(np.uint8), codes.astype(float), signs, signs.astype(np.float32)]
    packed = [np.packbits(codes, axis=1), pack(codes)] if n_bits > 1 else []
    for form in forms:
        assert np.array_equal(as_codes(form), codes)
    for form in forms + packed:
        assert np.array_equal(as_codes(form, n_bits), codes)


def test_bit_j_is_bit_j_of_its_word():
    codes = np.zeros((1, 130), bool)
    codes[0, [0, 63, 64, 129]] = True
    assert pack(codes).tolist() == [[1 | 1 << 63, 1, 2]]


@pytest.mark.parametrize(
    ("array", "facts"),
    [
        (np.array([[-1.0, 0.0, 1.0]]), r"\b0 .*-1/\+1, 1 times"),
        (np.array([[0.5, 1.0]]), r"\b0\.5\b.*values >= 0"),
        (np.array([[np.nan, 1.0]]), r"\bnan\b"),
        (np.array([[2, 1]]), r"\b2\b.*0/1"),
        (np.array([[7, 1]], np.uint8), r"\b7\b.*packed"),
        (np.array([["a"]]), "<U1"),
        (np.array([1, 0]), r"\(2,\)"),
        (np.zeros((0, 8)), r"\(0, 8\)"),
        ([[1, 0], [1]], "inhomogeneous"),
    ],
)
def test_codes_that_are_not_binary_are_refused(array, facts):
    with pytest.raises(HashbenchError, match=rf"codes.*{facts}"):
        as_codes(array)


@pytest.mark.parametrize("n_bits", [0, -1, 8.0])
def test_the_number_of_bits_is_a_positive_integer(n_bits):
    with pytest.raises(HashbenchError, match=rf"n_bits.* {n_bits}\b"):
        as_codes(np.ones((2, 8), bool), n_bits)


def test_the_number_of_bits_is_compared_with_the_codes():
    with pytest.raises(HashbenchError, match=r"3 columns.*16 bits"):
        as_codes(np.ones((2, 3), bool), 16)
    with pytest.raises(HashbenchError, match=r"bit 12\b.*\b1 packed"):
        as_codes(np.array([[255, 248], [255, 240]], np.uint8), 12)  # the first bit beyond
    with pytest.raises(HashbenchError, match=r"bit 3\b.*\b1 packed"):
        as_words(np.array([[7], [8]], np.uint64), 3)


def test_a_zero_in_another_block_than_the_minus_is_found(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ROWS", 2)
    with pytest.raises(HashbenchError, match="2 times"):
        as_codes(np.array([[1, 0], [0, 1], [1, 1], [1, -1]]))


def test_a_memory_map_is_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    codes = np.random.default_rng(0).random((50, 70)) < 0.5
    np.save(tmp_path / "codes.npy", codes)
    mapped = np.load(tmp_path / "codes.npy", mmap_mode="r")
    words, n_bits = as_words(mapped)
    assert n_bits == 70
    assert np.array_equal(words, pack(codes))


def test_words_are_not_copied():
    words = pack(np.ones((4, 70), bool))
    assert np.shares_memory(as_words(words, 70)[0], words)
