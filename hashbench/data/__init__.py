"""Data on their way to methods: layouts of files, splits, preprocessing, what leaks.

Called by studies and by the commands on data; knows nothing of methods.
"""
