"""Build from the files that are in the tree now.

`pip install .` leaves a folder `build/` behind, and setuptools packs whatever an earlier version of
the tree left there: a module that was since moved would be installed beside its successor, and a
plugin file that was renamed would be found twice.
"""

import shutil

from setuptools import setup
from setuptools.command.build_py import build_py


class FreshBuild(build_py):
    """Copy the packages into an empty folder."""

    def run(self) -> None:
        """Empty the folder, then copy."""
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


setup(cmdclass={"build_py": FreshBuild})
