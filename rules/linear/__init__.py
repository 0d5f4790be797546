"""Linear programs: one run of a linear map for many directions, and for sparsity patterns."""
