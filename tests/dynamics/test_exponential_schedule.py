"""Weight decay and growing rates give the same directions, as long as a run is stable."""

import numpy as np
import pytest

import normgeo
from normgeo import NORMALIZERS, NormalizedGLM, Normalizer, decay_as_schedule, descend
from normgeo.base.progress import Stop
from normgeo.dynamics.schedules import Exponential
from tests.dynamics.started import every_homogeneous, start
from tests.refused import says


@pytest.fixture
def cases(rng):
    return rng.normal(0.5, 1, (30, 5)), rng.integers(0, 4, 30)


def on_digits(digits, key, **options):
    rng = np.random.default_rng(0)
    model = NormalizedGLM.random(NORMALIZERS[key], "categorical", 10, digits.D, rng)
    return decay_as_schedule(model, digits.X, digits.y, **options)


@pytest.mark.pairwise("key", ["batch", "weight", "layer", "rms", "group"])
@pytest.mark.pairwise("batch_size", [None, 64])
def test_directions_are_equal_on_digits(digits, key, batch_size):
    twin = on_digits(digits, key, rate=0.05, decay=0.2, steps=100, batch_size=batch_size)
    assert twin.angles.shape == (101, len(twin.decayed.blocks.neurons))
    assert twin.angles.max() < 1e-9
    assert twin.parted is None
    np.testing.assert_allclose(twin.decayed.loss, twin.scheduled.loss, rtol=1e-9)
    np.testing.assert_allclose(
        twin.growth, np.tile(0.99 ** -np.arange(101.0)[:, None], twin.growth.shape[1]), rtol=1e-9
    )
    np.testing.assert_allclose(twin.predicted_growth, 0.99 ** -np.arange(101.0), rtol=1e-12)


@every_homogeneous
def test_every_method_with_a_scale_has_its_twin(normalizer, cases):
    twin = decay_as_schedule(start(normalizer), *cases, rate=0.05, decay=0.5, steps=40)
    assert twin.angles.max() < 1e-9
    for t in (0, 17, 40):
        decayed, scheduled = twin.decayed.model_at(t), twin.scheduled.model_at(t)
        np.testing.assert_allclose(decayed.g, scheduled.g, rtol=1e-9)
        np.testing.assert_allclose(decayed.b, scheduled.b, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(decayed.mean(cases[0]), scheduled.mean(cases[0]), rtol=1e-8)


def test_directions_do_turn_and_without_the_schedule_they_part(cases):
    """Negative control: the same rates without decay, or a wrong ratio, give other runs."""
    model = start(NORMALIZERS["layer"])
    twin = decay_as_schedule(model, *cases, rate=0.1, decay=0.5, steps=40)
    u = twin.decayed.vectors()[:, 0]
    cosine = u[0] @ u[-1] / np.linalg.norm(u[0]) / np.linalg.norm(u[-1])
    assert cosine < 0.99
    for rate in (0.1, Exponential(0.1, 0.95**-2), Exponential(0.1 / 0.95, 0.95**-1)):
        other = descend(model, *cases, steps=40, rate=rate, affine_rate=0.1).vectors()[:, 0]
        cosine = other[-1] @ u[-1] / np.linalg.norm(other[-1]) / np.linalg.norm(u[-1])
        assert np.arccos(cosine) > 1e-4


def test_a_stop_ends_both_runs_with_what_they_have(cases):
    seen = []

    def stop(done, steps):
        seen.append((done, steps))
        if done == 12:
            raise Stop

    twin = decay_as_schedule(start(NORMALIZERS["layer"]), *cases, steps=10, progress=stop)
    assert [twin.decayed.steps, twin.scheduled.steps] == [10, 2]
    assert seen == [(done, 20) for done in (*range(11), *range(10, 13))]
    assert twin.kept.tolist() == [0, 1, 2]


def test_a_chaotic_run_parts_and_its_step_is_told(digits):
    twin = on_digits(digits, "batch", rate=20.0, decay=0.01, steps=200)
    assert 20 < twin.parted < 150
    before, after = twin.kept < twin.parted, twin.kept >= twin.parted
    assert twin.angles[before].max() <= 1e-9 < twin.angles[after][0].max()
    assert twin.angles.max() > 0.1


def test_epsilon_parts_the_twins(cases):
    model = start(Normalizer("layer", "layer", eps=0.1))
    assert decay_as_schedule(model, *cases, rate=0.05, decay=0.5, steps=40).parted < 10


def test_the_step_of_parting_is_one_of_those_kept(cases):
    model = start(NORMALIZERS["layer"])
    room = 4 * model.pack().nbytes
    sizes = {"rate": 0.05, "decay": 0.5, "steps": 10, "tolerance": 0.0}
    twin = decay_as_schedule(model, *cases, **sizes, checkpoint_bytes=room)
    assert twin.kept.tolist() == [0, 3, 6, 9, 10]
    assert twin.growth.shape == twin.angles.shape == (5, 1)
    assert twin.parted in {0, 3, 6, 9, 10}


def test_a_model_whose_weights_have_a_length_is_refused(cases):
    model = NormalizedGLM(NORMALIZERS["standard"], "categorical", np.ones((4, 5)))
    with says(
        "Weight decay is a growing learning rate only where the length of a block of weights "
        "leaves z alone; standard has no such block. "
        "Use a normalizer with a scale that is not frozen."
    ):
        decay_as_schedule(model, *cases)


def test_rates_that_turn_the_weights_around_are_refused(cases, subtests):
    for rate, decay in [(0.1, 0.0), (2.0, 0.5), (0.0, 1.0), (-1.0, -0.5)]:
        sentence = (
            "`rate` and `decay` must be above 0 with a product below 1, so that decay shrinks the "
            f"weights and keeps their direction; got rate={rate} and decay={decay}."
        )
        with subtests.test(rate=rate), says(sentence):
            decay_as_schedule(start(NORMALIZERS["layer"]), *cases, rate=rate, decay=decay)


def test_names_of_the_first_version_lead_to_those_of_today(subtests):
    for old, new in [
        ("Twin", "DecayAsSchedule"),
        ("exponential_twin", "decay_as_schedule"),
        ("TurnCurve", "AngularUpdates"),
        ("turn_against_norm", "angular_updates"),
    ]:
        with subtests.test(old=old):
            with pytest.warns(
                DeprecationWarning, match=rf"^normgeo\.{old} is called normgeo\.{new} now\.$"
            ):
                assert getattr(normgeo, old) is getattr(normgeo, new)
            assert new in normgeo.__all__
            with pytest.raises(AttributeError, match="has no attribute 'twins'"):
                normgeo.twins  # noqa: B018
