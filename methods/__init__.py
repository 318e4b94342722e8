"""The methods that come with hashbench, one file each."""
