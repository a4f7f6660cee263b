from normgeo.base.text import text
from normgeo.ui import audit, frame

settings = frame.begin(
    "audit",
    text("Where is the paper exact, and where not?"),
    symbols="z|F|‖w‖|δ|ε|Fisher information|effective learning rate|null direction",
)

audit.show(settings)
