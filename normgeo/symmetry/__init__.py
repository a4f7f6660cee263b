"""Directions of parameter space that a model does not see."""
