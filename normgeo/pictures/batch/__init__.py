"""Pictures of the page Batch."""
