"""Hyperparameter tuning: random search on validation rows of the training set."""
