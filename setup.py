"""List the packages, and build them from the files that are in the tree now.

The plugin folders at the top of the repository are installed inside the package: a top-level
package named `datasets` would collide with one that many people have.
"""

import shutil

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py

PLUGINS = {f"hashbench.{folder}": folder for folder in ("methods", "datasets", "reports")}


class CleanBuild(build_py):
    """Copy the packages into an empty folder: `build/` keeps files that were moved since."""

    def run(self) -> None:
        """Empty the folder, then copy."""
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


setup(
    cmdclass={"build_py": CleanBuild},
    package_dir={"hashbench": "hashbench", **PLUGINS},
    packages=[
        *find_namespace_packages(include=["hashbench*"], exclude=["*__pycache__*"]),
        *PLUGINS,
    ],
)
