"""The lines of NumPy that print μ, σ and z of the integers that are worked by hand."""

from __future__ import annotations

import json

from normgeo.normalizers.example import read
from normgeo.normalizers.in_numpy import in_numpy
from normgeo.pictures.home.averages import Averages
from normgeo.pictures.in_numpy.script import number_of
from normgeo.settings import Settings, as_text

START = """\
import numpy as np


{number}
np.set_printoptions(formatter={{"all": number}})
X = np.array({X}, float)  # cases
X[{n}] *= {factor}
W = np.array({W})  # neurons
A = X @ W.T
"""


def script(settings: Settings, result: Averages) -> str:
    """Return a script that prints μ, σ and z of all places, method after method."""
    X, W = read(settings.example)
    factor = as_text(result.factors[result.opening])
    start = {"X": X.tolist(), "W": W.tolist(), "n": result.place[0], "factor": factor}
    parts = [START.format(number=number_of(3), **start)]
    for average in result.averaged.values():
        lines = in_numpy(average.normalizer)
        if lines:
            title = json.dumps(f"{average.normalizer.title}: μ, σ, z", ensure_ascii=False)
            parts.append("\n".join((*lines, f'print({title}, mu, sigma, z, sep="\\n")\n')))
    return "\n".join(parts) if len(parts) > 1 else ""
