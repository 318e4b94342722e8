"""What running a cell costs beside the method: 200 cells of `random` on `emoji`.

    python benchmarks/overhead.py [--jobs 2]

Start-up (imports, fork server, loading the data) is the time of the same study when every cell is
in the store already. The overhead of a cell is the life of its process, from the request to fork
it until its end is noticed, without the method's own fit and encode.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BITS = range(4, 84, 4)
SEEDS = 10


def run(out: Path, jobs: int) -> float:
    """Run the study and return the seconds it took."""
    start = time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "hashbench",
        "run",
        "-m",
        "random",
        "-d",
        "emoji",
        "--quiet",
        "--no-report",
    ]
    command += ["-b", ",".join(map(str, BITS)), "-s", str(SEEDS), "-j", str(jobs), "-o", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        first, again = run(out, jobs), run(out, jobs)
        with (out / "runs.csv").open() as stream:
            rows = list(csv.DictReader(stream))
    cells = len(rows)
    own = sum(float(row["fit_seconds"]) + float(row["encode_seconds"]) for row in rows) / cells
    life = sum(float(row["wall_seconds"]) for row in rows) / cells
    print(f"{cells} cells, {jobs} at once: {first:.1f} s")
    print(f"the same with every cell in the store: {again:.1f} s (start-up)")
    print(f"after start-up, scores included: {first - again:.1f} s")
    print(f"a cell's process lives {1000 * life:.1f} ms; fit and encode take {1000 * own:.1f} ms")
    print(f"overhead: {1000 * (life - own):.1f} ms per cell")


if __name__ == "__main__":
    main()
