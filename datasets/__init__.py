"""The datasets that come with hashbench, one file each."""
