"""The two commands that a newcomer types are found in the README, or an error is raised."""

import pytest

from tools import readme_commands

RUN = "```\npython3 -m venv .venv && hashbench run\n```\n"
TEST = "```sh\npython3 -m venv .venv && pytest -n logical\n```\n"


def test_readme_has_both():
    first, second = readme_commands.commands(readme_commands.README.read_text())
    assert "pip install ." in first
    assert "pip install -e" in second


def test_lines_of_a_block_are_one_command():
    run = RUN.replace(" && ", "\n")
    assert readme_commands.commands(run + "words\n" + TEST) == readme_commands.commands(
        RUN + "words\n" + TEST
    )


@pytest.mark.parametrize("text", ["", RUN, TEST, TEST + RUN, RUN + TEST + TEST])
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match=r"README\.md"):
        readme_commands.commands(text)
    assert len(readme_commands.commands(RUN + "words\n" + TEST)) == 2
