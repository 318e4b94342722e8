"""The conformance suites: what every plugin must hold, built in or not.

Called by ``hashbench check`` and by the tests.
"""
