"""The cache folder, which holds files that can be made again.

An installed package belongs to pip: a file that pip does not know of stays behind when the package
is removed, and then hides the next install.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

#: The folder to use instead of the user's own.
ENVIRONMENT = "HASHBENCH_CACHE"


def cache_folder() -> Path:
    """Return the folder for downloads, generated data and compiled kernels; it need not exist."""
    named = os.environ.get(ENVIRONMENT)
    return Path(named).absolute() if named else platformdirs.user_cache_path("hashbench")
