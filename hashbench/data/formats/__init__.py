"""Reading the files that researchers already have, whatever code base their names come from."""

from hashbench.data.formats.assemble import load_file, load_files
from hashbench.data.formats.file_dataset import FileDataset, parse_file_selection

__all__ = ["FileDataset", "load_file", "load_files", "parse_file_selection"]
