"""The lines of NumPy that double the weights and print the KL between both models."""

from __future__ import annotations

import json

import numpy as np

from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.blocks import Blocks
from normgeo.normalizers.in_numpy import in_numpy, prepared
from normgeo.pictures.captions import USES
from normgeo.pictures.fisher.equal_kl import SAME, EqualKL
from normgeo.pictures.in_numpy.script import chosen, imports, number_of
from normgeo.settings import Settings

BESIDE = "from normgeo.pictures.fisher.beside_standard import BesideStandard"

KL = """\
def kl(s0, s1):  # from s0 to s1, nats per case
    def A(s):
        return {partition}

    def f(s):
        return {mean}

    found = (A(s1) - A(s0) - (f(s0) * (s1 - s0)).sum(axis=1)).mean()
    return found if abs(found) > least else 0.0
"""


def script(settings: Settings, result: EqualKL) -> str:
    """Return a script that prints the KL from w to 2w of both models.

    "" where there is none, or a word of the method, or the family, says no line.
    """
    models = [point.data.model for point in result.base.points]
    family, costs = models[-1].family, [plane.doubled for plane in result.planes]
    parts = [_part(place, model) for place, model in enumerate(models)]
    said = family.mean_in_numpy and family.partition_in_numpy and all(parts)
    if not said or any(cost is None or np.isnan(cost.kl) for cost in costs):
        return ""
    blocks = Blocks.of(models[-1].normalizer, len(models[-1].W))
    neurons = blocks.neurons[blocks.holding(settings.neuron)].tolist()
    return "\n".join(
        (
            imports(BESIDE),
            chosen(settings, USES),
            "both = BesideStandard.of(settings)  # the same data, a model each",
            "X = both.normalized.X",
            f"rows = slice({neurons[0]}, {neurons[-1] + 1})  # {result.base.name}",
            f"least = {SAME * float(result.levels[0]):g}  # less is rounding",
            "",
            "",
            number_of(2),
            KL.format(partition=family.partition_in_numpy, mean=family.mean_in_numpy),
            *parts,
        )
    )


def _part(place: int, model: NormalizedGLM) -> str:
    """The lines of one model; "" where a word says none."""
    method, H = model.normalizer, len(model.W)
    lines = in_numpy(method)
    if not lines:
        return ""
    body = ("A = X @ W.T", *lines, "return model.g * z + model.b")
    if model.g is None:
        body = ("return X @ W.T + model.b",)
    title = json.dumps(f"{method.title}: KL =", ensure_ascii=False)
    return "\n".join(
        (
            f"\nmodel = both.models[{place}].model",
            "W = model.W",
            *prepared(method, H),
            "\n",
            "def s(W):",
            *(f"    {line}" for line in body),
            "\n",
            "W1 = W.copy()",
            "W1[rows] *= 2",
            f"print({title}, number(kl(s(W), s(W1))))",
            "",
        )
    )
