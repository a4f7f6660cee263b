"""Pictures of the page Learning rate."""
