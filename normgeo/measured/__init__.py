"""Table 1 of a user's own network: its parameters are changed, and its outputs are compared."""
