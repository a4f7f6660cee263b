"""Pictures of the page Invariance."""
