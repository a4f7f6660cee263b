from normgeo.base.text import text
from normgeo.ui import depth, frame, results
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "depth",
    text("What does the norm's place in a block change?"),
    symbols="X, x|W, w|B, V, M|c|g, b|N, H, D|y|f|l|δ|Q|ε|q, k, d|t, i, j|η|σ|neuron"
    "|residual stream|pre-norm, post-norm|certificate|witness",
    controls=("method",),
    more=("depth", "neurons", "seed", "eps", "groups", "epochs"),
    tabs=depth.TABS,
    defaults={"method": "layer"},
    picture="depth",
)

picture = results.show("depth", settings)

tabs(settings, depth.TABS, "why", picture)
