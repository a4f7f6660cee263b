"""What tests of several pages' pictures share."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from normgeo import fisher
from normgeo.pictures import PICTURES
from normgeo.pictures.fisher import equal_kl
from normgeo.pictures.invariance import effect
from normgeo.pictures.learning_rate import angular_update
from normgeo.pictures.model_on_data import independent, model_on_data
from normgeo.settings import Settings


@pytest.fixture
def rows() -> Callable[..., list[dict[str, Any]]]:
    """The rows of a picture's table with these values, as dictionaries."""

    @cache
    def found(name: str, settings: Settings) -> list[dict[str, Any]]:
        return PICTURES[name].table(PICTURES[name].compute(settings)).records()

    def rows(name: str, settings: Settings, **wanted: object) -> list[dict[str, Any]]:
        every = found(name, settings)
        return [row for row in every if all(row[key] == value for key, value in wanted.items())]

    return rows


@pytest.fixture
def few_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sliders and contours with few steps, for tests that look at neither."""
    monkeypatch.setattr(effect, "FACTORS", (1.0, 3.0))
    monkeypatch.setattr(effect, "SHIFTS", (1.0, 3.0))
    monkeypatch.setattr(angular_update, "NORMS", np.array([0.5, 1.0, 2.0, 4.0, 16.0]))
    monkeypatch.setattr(equal_kl, "LEVELS", np.array([1.0]))


@pytest.fixture
def matrix() -> Callable[..., np.ndarray]:
    """The Fisher information of the settings' model as a matrix, in the order of θ."""

    def matrix(settings: Settings, coupling: str = "exact") -> np.ndarray:
        it = model_on_data(independent(settings), "standardized")
        return fisher(it.model, it.X, coupling=coupling).to_dense()

    return matrix


@pytest.fixture
def captions() -> Callable[..., str]:
    """The words that stand in a picture's figure."""

    def captions(name: str, result: Any, theme: str = "light") -> str:
        notes = PICTURES[name].figure(result, theme).layout.annotations
        return "\n".join(note.text.replace("<br>", " ") for note in notes)

    return captions


@pytest.fixture
def weights() -> Callable[..., np.ndarray]:
    """F_WW of such a matrix, for H neurons with b, and with g where there is one."""

    def weights(F: np.ndarray, H: int, D: int) -> np.ndarray:
        keep = np.tile(np.arange(len(F) // H) < D, H)
        return F[np.ix_(keep, keep)]

    return weights
