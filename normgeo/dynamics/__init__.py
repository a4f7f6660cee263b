"""How weights learn: optimizers, descents, angular updates, equilibrium."""
