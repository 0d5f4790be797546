"""Classes beside NumPy's: of other libraries, of users, and what a traced number has of them."""
