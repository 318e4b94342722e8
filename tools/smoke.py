"""Try a built wheel as a stranger would: in an empty environment, outside the repository.

    python tools/smoke.py dist/hashbench-0.1.0-py3-none-any.whl [INTERPRETER ...]

For each interpreter (this one by default) a new virtual environment is made, the wheel is
installed with its dependencies, and a small study runs on the embedded data. What each printed is
printed; the exit code is the number of interpreters that failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHECK = """
import hashbench, pathlib, sys
from importlib import resources
assert "site-packages" in hashbench.__file__, hashbench.__file__
assert (pathlib.Path(hashbench.__file__).parent / "py.typed").exists()
print("hashbench", hashbench.__version__, "on python", sys.version.split()[0])
"""

STUDY = ["run", "-m", "edsh,scm-s,random", "-d", "emoji", "-b", "16", "-s", "1", "-o", "out"]


def smoke(wheel: Path, interpreter: str) -> bool:
    """Install the wheel for one interpreter and run a study; say how it went."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "PYTHONPATH": "", "HASHBENCH_CACHE": str(folder / "cache")}

        def call(*command: str) -> bool:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True
            )
            lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
            print("\n".join(f"    {line}" for line in lines[-6:]))
            return done.returncode == 0

        binaries = folder / "environment" / "bin"
        print(f"{interpreter}: {wheel.name}")
        return (
            call(interpreter, "-m", "venv", str(folder / "environment"))
            and call(str(binaries / "pip"), "install", "--quiet", str(wheel))
            and call(str(binaries / "python"), "-c", CHECK)
            and call(str(binaries / "hashbench"), *STUDY)
            and (folder / "out" / "report" / "index.html").is_file()
        )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    chosen = Path(sys.argv[1]).resolve()
    outcomes = {each: smoke(chosen, each) for each in sys.argv[2:] or [sys.executable]}
    for each, well in outcomes.items():
        print(f"{each}: {'works' if well else 'FAILED'}")
    sys.exit(sum(not well for well in outcomes.values()))
