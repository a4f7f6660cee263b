"""The networks of the experiments in JAX, an experiment a file, and what trains them."""
