"""The base of neural methods: networks, input scaling, losses, optimizers and early stopping.

PyTorch is an extra. No module here imports it at the top: methods are found, listed and described
without it, and the first ``fit`` imports it.
"""
