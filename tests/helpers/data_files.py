"""Files as MATLAB and others write them."""

from pathlib import Path

import h5py
import numpy as np
import scipy.io
import scipy.sparse

CLASSES = {"f8": "double", "f4": "single", "u1": "uint8", "u2": "uint16", "b1": "logical"}


def write_v5(path, variables):
    """Dictionaries become structs, lists cell arrays, as `scipy.io` does it."""

    def cells(value):
        if isinstance(value, list):
            array = np.empty((1, len(value)), object)
            array[0, :] = value
            return array
        return value

    scipy.io.savemat(path, {name: cells(value) for name, value in variables.items()})


def write_v73(path, variables):
    """HDF5 with MATLAB's header, transposed arrays, references for cells, groups for structs."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            _write_node(file, file, name, value)
    header = b"MATLAB 7.3 MAT-file, Platform: none, Created by: a test".ljust(116)
    with Path(path).open("r+b") as stream:
        stream.write(header + bytes(8) + b"\x00\x02IM")


def _write_node(file, group, name, value):
    if isinstance(value, dict):
        inner = group.create_group(name)
        inner.attrs["MATLAB_class"] = np.bytes_("struct")
        for key, member in value.items():
            _write_node(file, inner, key, member)
    elif isinstance(value, list):
        references = np.empty((len(value), 1), h5py.ref_dtype)
        refs = file.require_group("#refs#")
        for k, member in enumerate(value):
            _write_node(file, refs, f"{name}{k}", member)
            references[k, 0] = refs[f"{name}{k}"].ref
        group.create_dataset(name, data=references, dtype=h5py.ref_dtype)
        group[name].attrs["MATLAB_class"] = np.bytes_("cell")
    elif isinstance(value, str):
        data = np.array([[ord(letter)] for letter in value], np.uint16)
        group.create_dataset(name, data=data).attrs["MATLAB_class"] = np.bytes_("char")
    elif scipy.sparse.issparse(value):
        value = scipy.sparse.csc_array(value)
        inner = group.create_group(name)
        inner.attrs["MATLAB_class"] = np.bytes_(CLASSES[value.dtype.str[1:]])
        inner.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
        for key, part in (("data", value.data), ("ir", value.indices), ("jc", value.indptr)):
            inner.create_dataset(key, data=part)
    elif 0 in np.shape(value):
        node = group.create_dataset(name, data=np.array(np.shape(value), np.uint64))
        node.attrs["MATLAB_class"] = np.bytes_("double")
        node.attrs["MATLAB_empty"] = np.uint8(1)
    else:
        value = np.asarray(value)
        node = group.create_dataset(name, data=value.T)
        node.attrs["MATLAB_class"] = np.bytes_(CLASSES[value.dtype.str[1:]])


def write_plain_hdf5(path, variables):
    with h5py.File(path, "w") as file:
        for name, value in variables.items():
            file[name] = value


def write_npz(path, variables):
    with path.open("wb") as stream:  # a name would be given the suffix .npz
        np.savez(stream, **variables)


WRITERS = {"v5": write_v5, "v7.3": write_v73, "h5": write_plain_hdf5, "npz": write_npz}
