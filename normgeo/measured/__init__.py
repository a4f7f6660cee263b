"""Table 1 of one's own network: changes of its parameters are made, and its outputs compared."""
