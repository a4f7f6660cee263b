"""Figures on a page, and their export row."""
