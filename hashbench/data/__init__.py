"""From files to prepared splits: file formats, splits, preprocessing, checks of quality.

Called by studies and by the commands on data; knows nothing of methods.
"""
