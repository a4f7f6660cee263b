"""Pictures of the page Fisher."""
