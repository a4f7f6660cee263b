from normgeo.base.text import text
from normgeo.pictures.your_network.layer import CHOICES
from normgeo.ui import frame
from normgeo.ui.your_network import TABS, own, page

mine = own.held()
settings = frame.begin(
    "your_network",
    text("Which neurons still turn, and where does ε count?"),
    symbols="W, w|a|X, x|z|σ|δ|‖w‖|η|λ|ε|F|g, b|N, H, D|neuron|case|block|gain"
    "|effective learning rate|equilibrium",
    controls=page.controls(),
    more=CHOICES,
    tabs=TABS,
    picture="trained_layer" if mine is None else mine.require_possible,
)

page.show(settings)
