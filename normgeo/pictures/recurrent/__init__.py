"""Pictures of the page Recurrent."""
