"""Features from pictures and sentences: encoders, and the pipeline that applies them to a dataset.

An encoder is a module with two functions, `load` and `encode`; see `encoders`.
"""
