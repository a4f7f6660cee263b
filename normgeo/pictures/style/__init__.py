"""The common look of figures, their players and their export."""
