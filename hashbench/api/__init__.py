"""The suite as a library: what programs and notebooks call, and what the commands are thin over.

A study is resolved, prepared and carried out here, whether it was typed or asked for from Python.
"""
