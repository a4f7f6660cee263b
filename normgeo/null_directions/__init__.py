"""Null directions of F: changes of parameters that leave the model unchanged."""
