"""Checkpoints of one's own network: what each tensor is, where norms stand, what that decides."""
