"""The picture of walks: every output that it draws is inside its axes."""

import numpy as np
import pytest

from normgeo import FAMILIES
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

WALK = PICTURES["walk"]


@pytest.mark.parametrize("family", FAMILIES)
def test_outputs_of_every_family_stand_inside_their_axis(family):
    settings = Settings(dataset="iris", method="layer", family=family)
    result = WALK.compute(settings)
    figure = WALK.figure(result, "light")
    outputs = [
        trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers"
    ]
    moved = [
        np.asarray(change.y)
        for frame in figure.frames
        for change, place in zip(frame.data, frame.traces, strict=True)
        if figure.data[place] in outputs
    ]
    assert len(moved) == 2 * len(result.steps)
    drawn = np.concatenate([*(np.asarray(trace.y) for trace in outputs), *moved])
    for axis in (figure.layout.yaxis, figure.layout.yaxis2):
        low, high = axis.range
        assert low < drawn.min()
        assert drawn.max() < high
        probability = family in {"bernoulli", "categorical"}
        assert axis.title.text.endswith("probability" if probability else "predicted mean")
