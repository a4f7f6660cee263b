"""Pictures of the page Symmetry."""
