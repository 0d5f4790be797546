"""How a rule is written down, what kinds there are, and how a rule is found."""
