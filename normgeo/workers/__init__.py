"""Long computations in processes of their own: a fair queue, and a worker for each core."""
