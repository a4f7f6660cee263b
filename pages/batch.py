from normgeo.ui import frame

# isort: split
from normgeo.base.text import text
from normgeo.ui import batch, results
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "batch",
    text("What does a small batch cost, and why?"),
    symbols="a|z|μ|σ|S|m|η|case|neuron|frozen statistics",
    controls=("dataset",),
    more=(
        "method",
        "groups",
        "seed",
        "epochs",
        "rate",
        "neurons",
        "weights",
    ),
    tabs=batch.TABS,
    picture="axes",
)

picture = results.show("axes", settings)
batch.sizes(settings, picture)

tabs(settings, batch.TABS, "noise", picture)
