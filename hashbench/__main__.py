"""``python -m hashbench``: the command line without its script."""

from hashbench.commands import main

if __name__ == "__main__":
    main()
