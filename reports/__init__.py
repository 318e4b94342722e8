"""The tables and figures that come with hashbench, one file each."""
