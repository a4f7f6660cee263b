from normgeo.ui import frame

# isort: split
from normgeo.ui import home

story = home.told()
settings = frame.begin(
    "home",
    story.title,
    symbols="X, x|W, w|a|μ|σ|z|δ|γ|ε|‖w‖|ŵ|G|η|θ|F|KL|φ|neuron|case|re-centering, re-scaling"
    "|null direction",
    controls=("language",),
    tabs=home.TABS,
    follows=home.FOLLOWS,
)
home.draw(story, settings)
