from normgeo.ui import frame

# isort: split
from normgeo.base.text import text
from normgeo.ui import fisher, results
from normgeo.ui.tabs import tabs

settings = frame.begin(
    "fisher",
    text("How far can the weights move unnoticed?"),
    symbols="F|KL|W, w|‖w‖|ŵ|δ|θ|P|A|J|E|Var, Cov|O|ds|φ|s|a|z|y|X, x|g, b|h|t, i, j|N, H, D"
    "|block|base point|coupling|empirical Fisher",
    controls=("method", "dataset"),
    more=(
        "neuron",
        "other",
        "entries",
        "family",
        "neurons",
        "weights",
        "seed",
        "features",
        "eps",
        "statistics",
        "groups",
    ),
    tabs=(*fisher.TABS, *fisher.OLD_TABS),
    defaults={"method": "layer"},
    picture="equal_kl",
)

picture = results.show("equal_kl", settings, again=text("Compute all contours"))
tabs(settings, fisher.TABS, "why", picture)
