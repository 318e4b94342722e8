"""Search of parameters: trials on validation rows, and the choice of the best."""
