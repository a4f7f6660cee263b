from normgeo.ui import frame

settings = frame.begin("home", "What does each method average?", controls=("dataset",))
