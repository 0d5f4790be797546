"""The rules themselves, by family; only the face imports them."""
