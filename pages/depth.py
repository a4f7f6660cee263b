from normgeo.ui import frame

# isort: split
from normgeo.base.text import text
from normgeo.ui import depth, results
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "depth",
    text("Where in a block should the norm go?"),
    symbols="X, x|W, w|B, V, M|c|g, b|N, H, D|y|f|l|δ|Q|ε|q, k, d|t, i, j|η|σ|neuron"
    "|residual stream|pre-norm, post-norm|certificate|witness",
    tabs=depth.TABS,
    defaults={"method": "layer", "depth": 32},
)

picture = results.show("placement", settings)
depth.nearest(picture, settings)

tabs(settings, depth.TABS, "train", picture)
