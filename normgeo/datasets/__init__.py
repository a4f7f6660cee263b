"""Real data that ships, a synthetic plane, and files of the user."""
