"""Figures on a page, and the row that takes them away."""
