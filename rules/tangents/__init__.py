"""What a derivative is made of: zeros, structures, thunks, and the spaces that they belong to."""
