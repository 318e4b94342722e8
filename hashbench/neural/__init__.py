"""What neural methods are built on: the base class, the scaling of their input, an optimiser.

PyTorch is an extra. No module here imports it at the top: the methods that need it are found,
listed and shown without it, and it is imported by the first ``fit``.
"""
