"""Read datasets from the files that code bases of this field use."""

from hashbench.data.formats.file_dataset import FileDataset, parse_file_selection
from hashbench.data.formats.read_dataset import load_file, load_files

__all__ = ["FileDataset", "load_file", "load_files", "parse_file_selection"]
