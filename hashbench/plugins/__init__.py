"""What a method, a dataset and a report are, and how they are found.

Plugins see the base classes through ``hashbench`` itself; every package above may call this one.
"""
