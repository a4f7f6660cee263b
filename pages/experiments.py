from normgeo.ui import frame

# isort: split
from normgeo.base.text import text
from normgeo.ui import experiments, results
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "experiments",
    text("Does layer norm help a network learn?"),
    symbols="T|t, i, j|z|η",
    tabs=experiments.TABS,
)

picture = results.show("experiments", settings)

if picture is not None:
    tabs(settings, experiments.TABS, "order", picture)
