"""Measured tables in files: written, read back, and those that ship."""
