"""``python -m hashbench``: the command line without its script."""

import sys


def main() -> None:
    """Run the command line; an interrupt while it is imported ends it as a later one does."""
    try:
        from hashbench.cli import main as run_command_line

        run_command_line()
    except KeyboardInterrupt:
        print("hashbench: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
