"""Layers of one's own network: which tensor is what, where the norm stands, what that decides."""
