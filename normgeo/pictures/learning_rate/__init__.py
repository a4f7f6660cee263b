"""The pictures of the page Learning rate, in their order there."""

from dataclasses import replace

from normgeo.base.text import text
from normgeo.pictures.learning_rate import (
    angular_update,
    angular_update_figure,
    descent,
    descent_figure,
    doubling,
    doubling_figure,
    ellipse,
    ellipse_figure,
    equilibrium,
    equilibrium_figure,
    exponential_schedule,
    exponential_schedule_figure,
    first_step_figure,
    spiral,
    spiral_figure,
)
from normgeo.pictures.picture import Picture

PICTURES = (
    Picture(angular_update.STUDY, angular_update_figure.figure),
    Picture(descent.STUDY, descent_figure.figure),
    Picture(equilibrium.STUDY, equilibrium_figure.figure),
    Picture(exponential_schedule.STUDY, exponential_schedule_figure.figure),
    Picture(spiral.STUDY, spiral_figure.figure),
    Picture(doubling.STUDY, doubling_figure.figure),
    Picture(ellipse.STUDY, ellipse_figure.figure),
)

QUESTION = Picture(
    replace(
        angular_update.STUDY,
        name="first_step",
        title=text("One gradient step at two norms of the weights"),
        alt=text(
            "A weight vector, one gradient step from its tip and the angle by which the step turns "
            "it; beside it the same weights, twice as long, whose turn is still to be predicted."
        ),
        observed=None,
    ),
    first_step_figure.figure,
)
"""What may be seen of the first picture before somebody has predicted the turn."""
