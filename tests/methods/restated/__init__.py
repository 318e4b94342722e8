"""One module per method: its paper's updates, restated with every matrix written out.

A restatement is independent of the implementation: plain numpy and scipy, no function of
`hashbench.linalg`, direct solutions and n x n matrices where the paper has them. It draws random
numbers in the order in which the method does, so that both start from the same values. Each
module has

``PARAMETERS``
    given to the method and to the restatement, such as few iterations or anchors;
``restate(views, Y, n_bits, seed, **parameters)``
    views: list of (n, d_m) float64 arrays, Y: (n, c) float64 array of 0 and 1. Returns the learned
    codes, (n, n_bits) bool or one array per view, or None where the method has none, and a
    function ``encode(X, view)`` that returns (m, n_bits) bool. A method that compares vectors
    returns ``vectors(X, view, role)`` instead. Where it has a parameter ``record``, that function
    is called with the objective after every iteration.
``AGREEMENT`` (optional)
    the least share of equal bits, 0.999 if not given; a comment says why it is lower.
"""
