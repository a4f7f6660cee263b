from normgeo.base.text import text
from normgeo.pictures.your_network.layer import CHOICES
from normgeo.ui import frame
from normgeo.ui.your_network import TABS, own, page

settings = frame.begin(
    "your_network",
    text("Which neurons still turn, and where does ε count?"),
    symbols="W, w|a|X, x|z|σ|δ|‖w‖|η|λ|ε|F|g, b|N, H, D|neuron|case|block|gain"
    "|effective learning rate|equilibrium",
    controls=page.controls(),
    more=CHOICES,
    tabs=TABS,
    # What a layer that ships refuses, a visitor's own one may have.
    picture="trained_layer" if own.held() is None else "",
)

page.show(settings)
