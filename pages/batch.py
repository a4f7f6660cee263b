from normgeo.base.text import text
from normgeo.ui import batch, frame, results
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "batch",
    text("Which axis is averaged, and what does a small batch cost?"),
    controls=("dataset",),
    more=("batch_size", "groups", "seed", "epochs", "rate", "neurons", "weights"),
    tabs=batch.TABS,
)

picture = results.show(
    "axes",
    settings,
    alt="Arrays of cases and neurons, and of cases, channels and pixels, with the entries lit that "
    "share one mean and variance: a column of all cases in batch norm, a row in layer norm, one "
    "cell in instance norm, part of a row in group norm. Below each the shape of its statistics.",
)

tabs(settings, batch.TABS, "noise", picture)
