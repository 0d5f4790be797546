"""Rule definitions, the kinds of rules, and the tables in which a rule is found."""
