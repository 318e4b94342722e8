"""The suite as a library: what the commands do, for programs and notebooks.

It stands above the commands because both go one way through: a study that Python asks for is
resolved, planned and run by the same functions as one that is typed.
"""
