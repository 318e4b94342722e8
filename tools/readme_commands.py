"""Print the two commands of README.md that set everything up: the main job, then the tests.

`.ci/run` runs what this prints, so that what a newcomer types first is what is tested.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"

#: What each command begins and ends with.
START, ENDS = "python3 -m venv ", ("hashbench run", "pytest -n logical")


def commands(text: str) -> list[str]:
    """Return both commands, the lines of each joined by ``&&``.

    Raises ValueError if the text has not exactly these two.
    """
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    found = [" && ".join(block.strip().splitlines()) for block in blocks if block.startswith(START)]
    if len(found) != len(ENDS) or not all(map(str.endswith, found, ENDS)):
        raise ValueError(
            f"README.md: found {found} among blocks that begin with {START!r}; allowed: two, the "
            f"first ending in {ENDS[0]!r}, the second in {ENDS[1]!r}"
        )
    return found


if __name__ == "__main__":
    try:
        print(*commands(README.read_text()), sep="\n")
    except ValueError as error:
        sys.exit(str(error))
