"""Conformance checks that every plugin must pass, built in or not.

Called by ``hashbench check`` and by the tests.
"""
