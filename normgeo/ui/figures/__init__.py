"""Figures on a page."""
