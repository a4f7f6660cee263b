"""The standard model beside a normalized one, on the same data from the same weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

from normgeo.base.budget import Cost
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.fisher.which import WhichFisher
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.captions import caption
from normgeo.pictures.model_on_data import ModelOnData, independent, model_on_data
from normgeo.pictures.work import Sizes, times, weights
from normgeo.settings import Settings

LARGEST = 2048  # parameters: the matrix and its eigenvectors in about a second


@final
@dataclass(frozen=True, eq=False)
class BesideStandard:
    """Two models on the same data; the standard one alone where it is the method.

    Attributes:
        models: with their data, the standard one first. notes: sentences for the reader.

    """

    models: tuple[ModelOnData, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The standard model and that of the method.

        Raises:
            ValueError: settings that fit no model, or more parameters than can be drawn at once.

        """
        sizes_beside_standard(settings)
        chosen = independent(settings)
        # By their words: a standard model of the method's own ε and statistics stands alone.
        methods = {each.words: each for each in (NORMALIZERS["standard"], settings.normalizer)}
        models = tuple(model_on_data(chosen, "standardized", each) for each in methods.values())
        notes = list(models[-1].notes)
        if chosen is not settings:
            notes.insert(
                0,
                text(
                    "The outputs are independent, each class against the rest. With the "
                    "output family “categorical” (under Settings) the outputs are one softmax, and "
                    "every two neurons share curvature."
                ),
            )
        return cls(models, tuple(dict.fromkeys(notes)))

    @property
    def normalized(self) -> ModelOnData:
        """The model of the method itself."""
        return self.models[-1]

    @property
    def which(self) -> WhichFisher:
        """The Fisher information of both."""
        return WhichFisher("exact", len(self.normalized.X), self.normalized.model.phi)

    @property
    def caption(self) -> str:
        """The data, family and sizes of both."""
        return caption(self.normalized)


def sizes_beside_standard(settings: Settings) -> Sizes:
    """The sizes of both models; raises where they have too many parameters."""
    sizes = Sizes.of(settings, "standardized", apart=True, normalizer=settings.normalizer)
    sizes.require_z(settings.normalizer)
    without_gain = sizes.H if settings.normalizer.is_standard else 0
    parameters = sizes.parameters - without_gain
    if parameters > LARGEST:
        raise Refusal(
            "The Fisher information is drawn for up to {most:,} parameters; H = {H} "
            "neurons with D = {D} features have {count:,}. Use fewer neurons.",
            most=LARGEST,
            H=sizes.H,
            D=sizes.D,
            count=parameters,
        )
    return sizes


def cost_beside_standard(settings: Settings, matrices: int, evaluations: float) -> Cost:
    """What matrices of the method and evaluations of each model take."""
    sizes = sizes_beside_standard(settings)
    plain, mixed = sizes.fisher(False), sizes.fisher(settings.normalizer.shared_by_neurons)
    return (
        weights(settings, sizes, models=2)
        + times(2, sizes.evaluations(evaluations))
        + Cost(max(plain.bytes, mixed.bytes), matrices * (plain.seconds + mixed.seconds))
    )
