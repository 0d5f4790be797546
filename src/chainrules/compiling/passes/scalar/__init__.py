"""Programs on single numbers: every array of a recording is its entries, as far as it goes."""
