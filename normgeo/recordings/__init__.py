"""Training runs, recorded step by step and read again: norms, angular updates, gradients."""
