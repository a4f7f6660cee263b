"""What pages draw to teach, beside their pictures: what may be seen before an answer."""

from dataclasses import replace

from normgeo.base.text import text
from normgeo.pictures.learning_rate import angular_update
from normgeo.pictures.picture import Picture
from normgeo.pictures.teaching import first_step_figure

FIRST_STEP = Picture(
    replace(
        angular_update.STUDY,
        name="first_step",
        title=text("One step at two norms of the weights"),
        alt=text(
            "A weight vector, one step from its tip and the angle by which the step turns "
            "it; beside it the same weights, twice as long, whose turn is still to be predicted."
        ),
        observed=None,
    ),
    first_step_figure.figure,
)
"""What may be seen of the first picture of Learning rate before its turn is predicted."""
