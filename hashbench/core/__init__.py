"""Modules that all packages use: errors, units, codes, validation, parameters, files.

Knows nothing of methods, studies or results; every other package may call it.
"""
