from normgeo.ui import frame

# isort: split
from normgeo.base.text import text
from normgeo.ui import audit

settings = frame.begin(
    "audit",
    text("Where is the paper exact, and where not?"),
    symbols="z|F|‖w‖|δ|ε|Fisher information|effective learning rate|null direction",
)

audit.show(settings)
