"""Real data that ships with normgeo, a synthetic plane, and files of the user."""
