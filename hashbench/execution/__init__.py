"""What is run and kept: a study, its grid of cells, the plan, the store.

Called by results (which read the store) and by the commands.
"""
