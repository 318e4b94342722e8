"""Files of every container, for tests of layouts."""

import pytest

from tests.helpers.data_files import WRITERS


@pytest.fixture
def write(tmp_path):
    """Return a function (file name, format, variables) -> path of a file with them."""

    def writer(name, version, variables):
        path = tmp_path / name
        WRITERS[version](path, variables)
        return path

    return writer
