"""Normalizers: centers, scales, Eq. 5 and its linearization."""
