"""Home: what each method averages, the live Table 1, and the ways in."""

import re

import numpy as np
import pytest

from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.averages import EXAMPLE_PLACE, EXAMPLE_W, EXAMPLE_X
from normgeo.settings import Settings
from normgeo.ui.home import WAYS

STEPS = {f"{way.title}: {step.label}": step for way in WAYS for step in way.steps}


def results(captions: str) -> list[float]:
    """The z that each method's arithmetic ends with."""
    return [float(z.replace("−", "-")) for z in re.findall(r"= <b>(\S+)</b>", captions)]


def test_arithmetic_ends_with_the_z_of_each_method(shown):
    A, (n, h) = EXAMPLE_X @ EXAMPLE_W.T, EXAMPLE_PLACE
    batch = (A[n, h] - A[:, h].mean()) / A[:, h].std()
    layer = (A[n, h] - A[n].mean()) / A[n].std()
    weight = A[n, h] / np.linalg.norm(EXAMPLE_W[h])
    assert results(shown("home").captions("averages")) == pytest.approx(
        [batch, layer, weight], abs=0.005
    )


def test_arithmetic_can_be_followed(shown):
    captions = shown("home").captions("averages")
    assert "μ = (6 + 6 + 9)/3 = 7<br>σ² = (1 + 1 + 4)/3 = 2<br>z = (6 − 7)/√2" in captions
    assert "μ = (3 + 6 + 0)/3 = 3<br>σ² = (0 + 9 + 9)/3 = 6<br>z = (6 − 3)/√6" in captions
    assert "σ = ‖w‖ = √(2² + 2² + 1²) = 3<br>z = (6 − 0)/3" in captions


def test_table_is_table_1(shown):
    home = shown("home")
    assert home.signs() == {"batch norm": "✓✗✓✓✓✗", "layer norm": "✓✓✗✓✗✓", "weight norm": "✓✗✓✗✗✗"}
    assert "18 of 18 cells agree with the paper" in home.words


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_data_set_has_its_grids(shown, dataset):
    home = shown("home", dataset=dataset)
    assert home.figures == ["averages"]
    assert home.app.selectbox(key="dataset").value == dataset


def test_one_neuron_still_has_grids(shown):
    assert shown("home", neurons="1").figures == ["averages"]


MAIN = {
    "invariance": "effect",
    "learning_rate": "turn",
    "symmetry": "symmetry",
    "fisher": "fisher",
    "batch": "axes",
    "recurrent": "recurrence",
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_step_leads_to_a_state_without_complaints(shown, step):
    settings, problems = Settings.from_query(step.state)
    assert problems == ()
    page = shown(step.page, **step.state)
    assert page.warnings == []
    assert page.figures[0] == MAIN[step.page]
    if "tab" in step.state:
        assert settings.tab == step.state["tab"]


def test_links_carry_their_states(shown):
    links = shown("home").app.get("page_link")
    assert [link.proto.label for link in links] == [step.label for step in STEPS.values()]
    assert "cell=layer.case_rescaling" in links[0].proto.query_string
