"""Long computations in processes of their own: a fair line, and a worker for each core."""
