"""Files of every container, for tests of layouts."""

import pytest

from hashbench.core.errors import HashbenchError
from hashbench.data.formats import parse_file_selection
from tests.helpers.data_files import WRITERS


@pytest.fixture
def write(tmp_path):
    """Return a function (file name, format, variables) -> path of a file with them."""

    def writer(name, version, variables):
        path = tmp_path / name
        WRITERS[version](path, variables)
        return path

    return writer


@pytest.fixture
def refused():
    """Return a function selection -> the message, of one line, of data that cannot be loaded."""

    def message(selection):
        with pytest.raises(HashbenchError) as error:
            parse_file_selection(str(selection))[1].load()
        assert "\n" not in str(error.value)
        return str(error.value)

    return message
