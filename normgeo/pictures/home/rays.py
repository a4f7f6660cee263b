"""The loss along a ray: a longer weight vector is the same function."""

from __future__ import annotations

from dataclasses import replace

from normgeo.base.text import text
from normgeo.pictures.learning_rate import angular_update

STUDY = replace(
    angular_update.STUDY,
    name="rays",
    title=text("The loss is constant along rays"),
    source=text("section 5.2.2"),
    alt=text(
        "The loss as color in the plane of a weight vector and its negative gradient, and the "
        "weight vector at several lengths."
    ),
)
"""The loss of the picture "turn", without the steps."""
