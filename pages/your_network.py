from normgeo.ui import frame

# isort: split
from normgeo.pictures.your_network.layer import CHOICES
from normgeo.ui.your_network import TABS, network, page

settings = frame.begin(
    "your_network",
    page.question(),
    symbols="W, w|a|X, x|z|σ|δ|‖w‖|η|λ|ε|F|g, b|N, H, D|neuron|case|block|gain"
    "|effective learning rate|equilibrium",
    controls=page.controls(),
    more=() if network.is_asked() else CHOICES,
    tabs=TABS,
    defaults=page.defaults(),
    picture=page.main_picture(),
)

page.show(settings)
