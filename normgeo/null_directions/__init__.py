"""Null directions of F: the changes of parameters that a model does not see."""
