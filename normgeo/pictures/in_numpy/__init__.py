"""Pictures as scripts in plain NumPy, which print the numbers on the screen; one file a picture."""
