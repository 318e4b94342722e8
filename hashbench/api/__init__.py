"""Functions for programs and notebooks; the commands are built on them.

A study is resolved, prepared and run here, whether it comes from the command line or from Python.
"""
