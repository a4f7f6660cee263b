"""What a recorder writes, against the weights; and how bad files and bad input are refused."""

import itertools
import os
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from normgeo import NORMALIZERS, Normalizer, Recorder, read_recording, record_checkpoints
from normgeo.base.refusal import Refusal
from normgeo.dynamics.adam import AdamW
from normgeo.recordings import format as layout
from normgeo.recordings.tensors import Tensor
from normgeo.recordings.turning import Turning
from tests.pairwise import first
from tests.refused import says

BLOCKS = {"a": "batch", "b": "layer", "c": "standard"}
SHAPES = {"a": (3, 4), "b": (6, 2, 3), "c": (2, 5)}


def a_run(steps=5, seed=0):
    rng = np.random.default_rng(seed)
    return [{k: rng.standard_normal(s) for k, s in SHAPES.items()} for _ in range(steps)]


def recorded(path, run, blocks=BLOCKS, gradients=None, **options):
    with Recorder(path, blocks, **options) as recorder:
        for t, weights in enumerate(run):
            given = None if gradients is None or t == 0 else gradients[t]
            recorder.step(weights, 0.1, decay=0.01, gradients=given)
    return read_recording(path)


def by_hand(W, normalizer):
    """w̃ of each block as a vector, from the meaning of the normalizer's two words."""
    W = W.reshape(len(W), -1).astype(float)
    size = len(W) // normalizer.groups
    if normalizer.center == "layer":
        W = np.concatenate([part - part.mean(axis=0) for part in W.reshape(-1, size, W.shape[1])])
    if normalizer.center == "weight":
        W = W - W.mean(axis=1, keepdims=True)
    together = "layer" in normalizer.words
    return W.reshape(-1, size * W.shape[1]) if together else W


def angle_of(u, w):
    return np.arctan2(np.linalg.norm(w - (u @ w) / (u @ u) * u), (u @ w) / np.linalg.norm(u))


CASES = {
    **{key: NORMALIZERS[key] for key in ("batch", "weight", "layer", "rms", "standard")},
    "two groups": Normalizer("layer", "layer", groups=2),
    "own mean": Normalizer("weight", "weight"),
    "own mean, layer": Normalizer("weight", "layer"),
    "layer, weight": Normalizer("layer", "weight"),
}


@pytest.mark.pairwise("normalizer", CASES.values())
@pytest.mark.pairwise("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.pairwise("axis", [0, -1])
@pytest.mark.pairwise("shape", [(6, 5), (6, 700, 60)])  # one part, and many
def test_norms_angles_and_steps_are_those_of_the_weights(normalizer, dtype, axis, shape, rng):
    u = (rng.standard_normal(shape) + 3).astype(dtype)
    w = (u + 0.05 * rng.standard_normal(shape)).astype(dtype)
    stored = [np.moveaxis(x, 0, -1) if axis else x for x in (u, w)]
    turning = Turning(Tensor.of("w", stored[0], axis, normalizer))
    first, nothing, *_ = turning.look(stored[0])
    norms, angles, steps, before = turning.look(stored[1])
    U, W = (by_hand(x, normalizer) for x in (u, w))
    assert np.isnan(nothing).all()
    # Weights of single precision are multiplied in single precision, and summed in double.
    near = (1e-12, 1e-10, 1e-8) if dtype is np.float64 else (1e-7, 1e-7, 1e-6)
    np.testing.assert_allclose(first, np.linalg.norm(U, axis=1), rtol=near[0])
    np.testing.assert_allclose(norms, np.linalg.norm(W, axis=1), rtol=near[0])
    np.testing.assert_allclose(before, np.linalg.norm(U, axis=1), rtol=10 * near[0])
    np.testing.assert_allclose(steps, np.linalg.norm(W - U, axis=1), rtol=near[1])
    np.testing.assert_allclose(angles, [*map(angle_of, U, W)], rtol=near[2])
    np.testing.assert_allclose(turning.lengths(stored[1]), norms, rtol=10 * near[0])


@pytest.mark.pairwise("dtype,near", [(np.float64, 1e-9), (np.float32, 1e-7)])
@pytest.mark.pairwise("kept_first", [False, True])
def test_a_mean_row_far_larger_than_the_rest_takes_no_digits(rng, dtype, near, kept_first):
    u = (1e6 + rng.standard_normal((4, 9))).astype(dtype)
    w = (u + 0.25 * rng.standard_normal((4, 9))).astype(dtype)
    turning = Turning(Tensor.of("w", u, 0, NORMALIZERS["layer"]))
    (turning.keep if kept_first else turning.look)(u)
    (norm,), (angle,), *_ = turning.look(w)
    U, W = (by_hand(x, NORMALIZERS["layer"])[0] for x in (u, w))
    assert norm == pytest.approx(np.linalg.norm(W), rel=near)
    assert angle == pytest.approx(angle_of(U, W), rel=10 * near)


def test_a_mean_row_that_grows_takes_digits_of_one_look_at_most(rng):
    u = rng.standard_normal((4, 9))
    turning = Turning(Tensor.of("w", u, 0, NORMALIZERS["layer"]))
    turning.look(u)
    turning.look(u + 1e6)
    (norm,), *_ = turning.look(w := u + 1e6 + 1e-3 * rng.standard_normal((4, 9)))
    assert norm == pytest.approx(np.linalg.norm(by_hand(w, NORMALIZERS["layer"])), rel=1e-9)


def test_an_angle_of_single_precision_is_known_to_a_part_of_the_step(rng):
    """A step nearly along w, like that of a frozen neuron under decay."""
    u = rng.standard_normal((6, 3000)).astype(np.float32)
    w = (0.99 * u + 1e-4 * rng.standard_normal(u.shape)).astype(np.float32)
    turning = Turning(Tensor.of("w", u, 0, NORMALIZERS["batch"]))
    turning.look(u)
    angles = turning.look(w)[1]
    exact = [angle_of(*pair) for pair in zip(u.astype(float), w.astype(float), strict=True)]
    np.testing.assert_allclose(angles, exact, atol=3e-4 * 0.01)
    np.testing.assert_allclose(angles, exact, rtol=1e-2)


def test_an_angle_keeps_its_digits(subtests):
    for theta in [1e-12, 1e-7, 1e-3, 1.0, 3.0]:
        with subtests.test(theta=theta):
            u = np.array([[3.0, 4.0, 0.0, 0.0]])
            w = np.cos(theta) * u + np.sin(theta) * np.array([[0.0, 0.0, 5.0, 0.0]])
            turning = Turning(Tensor.of("w", u, 0, NORMALIZERS["batch"]))
            turning.look(u)
            assert turning.look(w)[1].item() == pytest.approx(theta, rel=1e-6)


def test_a_run_is_read_as_it_was_recorded(tmp_path):
    run, gradients = a_run(), a_run(seed=1)
    found = recorded(tmp_path / "run", run, gradients=gradients, optimizer=AdamW(0.8))
    assert found.optimizer == AdamW(0.8)
    assert found.names == ("a[0]", "a[1]", "a[2]", "b", "c[0]", "c[1]")
    assert found.notes == ()
    assert found.is_every_step
    np.testing.assert_array_equal(found.steps, range(5))
    np.testing.assert_array_equal(found.spans, [0, 1, 1, 1, 1])
    assert (found.rates == 0.1).all()
    assert (found.decays == 0.01).all()
    for t in range(5):
        parts = [by_hand(run[t][k], NORMALIZERS[key]) for k, key in BLOCKS.items()]
        expected = np.concatenate([np.linalg.norm(part, axis=1) for part in parts])
        np.testing.assert_allclose(found.norms[t], expected, rtol=1e-12)
    assert np.isnan(found.gradient_norms[0]).all()
    expected = np.linalg.norm(gradients[3]["a"], axis=1)
    np.testing.assert_allclose(found.gradient_norms[3, :3], expected, rtol=1e-12)


def test_weights_of_the_next_step_in_the_same_memory_are_another_step(tmp_path):
    """As optimizers write them."""
    w = np.eye(2, 3)
    with Recorder(tmp_path / "run", {"w": "batch"}) as recorder:
        recorder.step({"w": w}, 0.1)
        w += [[0, 1, 0], [0, 0, 1]]
        recorder.step({"w": w}, 0.1)
    np.testing.assert_allclose(read_recording(tmp_path / "run").angles[1], np.pi / 4)


@pytest.mark.parametrize("every", [2, 3])
def test_every_kth_step_is_recorded_with_its_own_angle(tmp_path, every):
    run = a_run(10)
    whole = recorded(tmp_path / "whole", run)
    found = recorded(tmp_path / "some", run, every=every)
    np.testing.assert_array_equal(found.steps, range(0, 10, every))
    np.testing.assert_array_equal(found.spans, [0] + [1] * (len(found.steps) - 1))
    np.testing.assert_allclose(found.norms, whole.norms[::every], rtol=1e-14)
    np.testing.assert_allclose(found.angles[1:], whole.angles[::every][1:], rtol=1e-12)
    assert not found.is_every_step


def test_steps_may_be_told_and_angles_are_then_over_them(tmp_path):
    u, w = np.eye(1, 3), np.array([[1.0, 1.0, 0.0]])
    with Recorder(tmp_path / "run", {"w": "batch"}) as recorder:
        recorder.step({"w": u}, 0.1, at=100)
        recorder.step({"w": w}, 0.1, at=150)
        with says("`at` must be a whole number from 151 up; got 150."):
            recorder.step({"w": w}, 0.1, at=150)
    found = read_recording(tmp_path / "run")
    assert (found.steps.tolist(), found.spans.tolist()) == ([100, 150], [0, 50])
    assert found.angles[1, 0] == pytest.approx(np.pi / 4)


def test_rates_and_decays_may_differ_by_name(tmp_path):
    with Recorder(tmp_path / "run", {"a": "batch", "b": "layer"}) as recorder:
        weights = a_run(1)[0]
        recorder.step(weights, {"a": 0.1, "b": np.float32(0.5)}, decay={"a": 0, "b": 1})
    found = read_recording(tmp_path / "run")
    assert found.rates[0].tolist() == [0.1] * 3 + [0.5]
    assert found.decays[0].tolist() == [0.0] * 3 + [1.0]


# Other libraries.


class Tensorlike:
    """An array like PyTorch's: NumPy views it once it is detached and on the CPU."""

    def __init__(self, values, detached=False, here=False, wide=True):
        self.values, self.detached, self.here, self.wide = values, detached, here, wide

    def detach(self):
        return Tensorlike(self.values, True, self.here, self.wide)

    def cpu(self):
        return Tensorlike(self.values, self.detached, True, self.wide)

    def float(self):
        return Tensorlike(self.values, self.detached, self.here)

    def __array__(self, dtype=None, copy=None):
        if not (self.detached and self.here):
            raise RuntimeError("Can't call numpy() on a tensor that requires grad.")
        if not self.wide:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values


class OnlyDlpack:
    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize(
    "wrap",
    [
        Tensorlike,
        lambda values: Tensorlike(values, wide=False),
        OnlyDlpack,
        np.ndarray.tolist,
    ],
    ids=["detach", "bfloat16", "dlpack", "lists"],
)
def test_arrays_of_other_libraries_are_viewed(tmp_path, wrap):
    run = [{"w": step["a"]} for step in a_run()]
    expected = recorded(tmp_path / "plain", run, {"w": "batch"})
    found = recorded(tmp_path / "other", [{"w": wrap(s["w"])} for s in run], {"w": "batch"})
    np.testing.assert_array_equal(found.norms, expected.norms)
    np.testing.assert_array_equal(found.angles, expected.angles)


@pytest.mark.parametrize("scale", [1e300, 5e-324, 1e-200])
def test_weights_of_any_size_have_norms_and_angles(tmp_path, scale):
    rng = np.random.default_rng(0)
    run = [np.round(9 * rng.standard_normal((3, 4))) + 1 for _ in range(4)]
    for key in ("batch", "weight", "rms"):
        with Recorder(tmp_path / key, {"w": key}) as recorder:
            for t, w in enumerate(run):
                mixed = w * np.array([[scale], [1.0], [scale]])
                recorder.step({"w": mixed}, 0.1, gradients={"w": mixed} if t else None)
        found = read_recording(tmp_path / key)
        units = [np.delete(w, 1, axis=0).ravel()[None] if key == "rms" else w for w in run]
        factors = [scale] if key == "rms" else [scale, 1.0, scale]
        if key == "rms" and scale < 1:
            units, factors = [w[[1]] for w in run], [1.0]
        norms = np.array([np.linalg.norm(u, axis=1) for u in units])
        expected = np.array([[n * f for n, f in zip(row, factors, strict=True)] for row in norms])
        np.testing.assert_allclose(found.norms, expected, rtol=1e-12, atol=5e-324)
        np.testing.assert_allclose(found.gradient_norms[1:], expected[1:], rtol=1e-12, atol=5e-324)
        np.testing.assert_allclose(found.norms_before[1:], expected[:-1], rtol=1e-9, atol=5e-324)
        angles = [[*map(angle_of, u, w)] for u, w in itertools.pairwise(units)]
        np.testing.assert_allclose(found.angles[1:], angles, rtol=1e-9)


def test_gradients_that_are_not_there_yet_are_not_known(tmp_path):
    with Recorder(tmp_path / "run", {"w": "batch", "v": "layer"}) as recorder:
        for known in (False, True):
            weights = {"w": np.ones((2, 3)), "v": np.eye(2)}
            given = {"w": 2 * weights["w"] if known else None, "v": None}
            recorder.step(weights, 0.1, gradients=given)
        for bad, sentence in (
            (
                {"w": None},
                "Gradients are named as in the mapping that they are kept in, with / "
                "between the names of nested ones; there is no 'v' in it, which holds w.",
            ),
            (
                {"w": np.ones((3, 2)), "v": None},
                "A gradient has the shape of its weights; that of "
                "'w' has (3, 2), and the weights have (2, 3). Check which gradient is whose.",
            ),
            (
                {"w": "a", "v": None},
                "Gradients must be arrays of real numbers that NumPy can view, "
                "by `__array__` or `__dlpack__`; 'w' is of type <U1.",
            ),
        ):
            with says(sentence):
                recorder.step(weights, 0.1, gradients=bad)
        for masked in (np.ma.ones((2, 3)), [np.ma.ones(3), np.ma.ones(3)]):
            with says(
                "Weights must be plain numbers; 'w' is a masked array, whose mask would be lost. "
                "Fill the masked ones in first."
            ):
                recorder.step({**weights, "w": masked}, 0.1)
        for endless in (np.broadcast_to(1.0, (10**6, 10**6)), [range(10**9)] * 1000):
            with says(
                "`w` would take 7.45e+03 GiB of memory; at most 2 GiB are taken. Ask for less."
            ):
                recorder.step({**weights, "w": endless}, 0.1)
        recorder.step(weights, 0.1)
    found = read_recording(tmp_path / "run")
    np.testing.assert_array_equal(found.gradient_norms[1], [12**0.5, 12**0.5, np.nan])
    assert np.isnan(found.gradient_norms[0]).all()
    assert (found.steps.tolist(), found.spans.tolist()) == ([0, 1, 2], [0, 1, 1])


def test_a_recording_goes_on_as_it_began(tmp_path):
    path, weights = tmp_path / "run", {"w": np.ones((2, 3)), "b": np.ones(2)}
    began = {"blocks": {"w": "layer"}, "optimizer": "adamw", "biases": {"w": "b"}}
    with Recorder(path, **began) as recorder:
        recorder.step(weights, 0.1)
    rule = "A recording goes on as it began: {} here. State the same, or begin another file."
    for change, what in (
        (
            {"optimizer": "lion"},
            "the optimizer was AdamW(beta1=0.9, beta2=0.999, eps=1e-08) and is "
            "Lion(beta1=0.9, beta2=0.99)",
        ),
        (
            {"blocks": {"w": "rms"}},
            "the norm of 'w' was ('layer', 'layer', 1) and is ('none', 'layer', 1)",
        ),
        ({"biases": None}, "the bias of 'w' was 'b' and is None"),
        ({"neurons": -1}, "the axis of the neurons of 'w' was 0 and is -1"),
    ):
        with says(rule.format(what)):
            Recorder(path, **began | change, append=True)
    for more in ({}, {"optimizer": None}):
        with Recorder(path, **began | more, append=True) as recorder:
            recorder.step(weights, 0.1)
    assert read_recording(path).steps.tolist() == [0, 1, 2]


def test_nested_names_have_a_slash(tmp_path):
    run = a_run()
    nested = [{"params": {"Dense_0": {"kernel": step["a"].T}}} for step in run]
    found = recorded(tmp_path / "nested", nested, {"params/Dense_0/kernel": "batch"}, neurons=-1)
    expected = recorded(tmp_path / "flat", run, {"a": "batch"})
    np.testing.assert_allclose(found.angles[1:], expected.angles[1:], rtol=1e-12)


# Runs that go wrong.


def test_nan_and_zero_are_recorded_as_they_are(tmp_path):
    w = np.ones((3, 4))
    broken = w.copy()
    broken[0, 0], broken[1, 0], broken[2] = np.nan, np.inf, 0
    run = [{"w": w}, {"w": broken}, {"w": w}]
    gradients = [None, {"w": np.full((3, 4), np.nan)}, {"w": w}]
    found = recorded(tmp_path / "run", run, {"w": "batch"}, gradients=gradients)
    assert np.isnan(found.norms[1, 0])
    assert np.isinf(found.norms[1, 1])
    assert (found.norms[1, 2], found.angles[2, 2]) == (0, 0)
    assert np.isnan(found.gradient_norms[1]).all()
    assert (found.gradient_norms[2] == 2).all()


def test_weights_that_change_their_shape_are_refused_and_the_file_stays(tmp_path):
    with Recorder(tmp_path / "run", {"w": "batch"}) as recorder:
        recorder.step({"w": np.ones((2, 3))}, 0.1)
        with says(
            "The weights of a run keep their shapes; 'w' had (2, 3) when the recording began and "
            "has (3, 3) now. Begin another recording."
        ):
            recorder.step({"w": np.ones((3, 3))}, 0.1)
        recorder.step({"w": np.ones((2, 3))}, 0.1)
        recorder.step({"w": np.ones((2, 3))}, 0.1)
    found = read_recording(tmp_path / "run")
    assert (found.steps.tolist(), found.spans.tolist()) == ([0, 1, 2], [0, 1, 1])


def test_two_recorders_do_not_write_one_file(tmp_path):
    path = tmp_path / "run"
    with Recorder(path, {"w": "batch"}) as recorder:
        with says(f"Another recorder writes {path}. Close it first, or record to another file."):
            Recorder(path, {"w": "batch"})
        recorder.step({"w": np.ones((2, 3))}, 0.1)
        with pytest.raises(Refusal, match=r"^Another recorder writes"):
            Recorder(path, {"w": "batch"}, append=True)
    with says(
        f"{path} is there already. Record to another file, or go on with this one with append=True."
    ):
        Recorder(path, {"w": "batch"})
    with says("This recorder is closed. Begin another one, with append=True."):
        recorder.step({"w": np.ones((2, 3))}, 0.1)


def test_a_recording_goes_on_after_a_crash_in_the_middle_of_a_record(tmp_path):
    path, run = tmp_path / "run", a_run(6)
    recorded(path, run[:4])
    os.truncate(path, path.stat().st_size - 5)
    with Recorder(path, BLOCKS, append=True) as recorder:
        for weights in run[3:]:
            recorder.step(weights, 0.1)
    found = read_recording(path)
    assert found.notes == ()
    assert found.steps.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.spans.tolist() == [0, 1, 1, 0, 1, 1]
    expected = recorded(tmp_path / "x", run).norms[3:]
    np.testing.assert_allclose(found.norms[3:], expected, rtol=1e-14)  # of another mean row m
    with says(
        "A recording goes on with the weights that it began with, a, b, c; got a. Begin another "
        "file."
    ):
        Recorder(path, {"a": "batch"}, append=True)


def test_a_file_is_read_while_it_grows(tmp_path):
    with Recorder(tmp_path / "run", BLOCKS) as recorder:
        for t, weights in enumerate(a_run()):
            recorder.step(weights, 0.1)
            assert len(read_recording(tmp_path / "run").steps) == t + 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that Linux has")
def test_a_full_disk_is_told(tmp_path):
    os.symlink("/dev/full", tmp_path / "run")
    with (
        Recorder(tmp_path / "run", {"w": "batch"}) as recorder,
        pytest.raises(OSError, match="No space left"),
    ):
        recorder.step({"w": np.ones((2, 3))}, 0.1)


# Files that are cut or damaged.


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    recorded(path, a_run(4), gradients=a_run(4, seed=1), optimizer="lion")
    return path.read_bytes(), read_recording(path)


@pytest.mark.parametrize("every", first([17, 1]))
def test_a_file_cut_at_any_byte_reads_as_the_whole_records_before(every, whole, tmp_path):
    data, expected = whole
    size = layout.Header(expected.tensors, expected.optimizer).record.itemsize
    begin, path = len(data) - 4 * size, tmp_path / "run"
    for length in {*range(0, len(data), every), *range(begin, len(data), size)}:
        path.write_bytes(data[:length])
        if length < begin:
            with pytest.raises(Refusal) as refused:
                read_recording(path)
            assert str(refused.value) == (
                f"A recording is a file that `normgeo.Recorder` has written; {path} is none: it "
                "ends before its first step was recorded."
            )
            continue
        found, records = read_recording(path), (length - begin) // size
        assert len(found.steps) == records
        np.testing.assert_array_equal(found.norms, expected.norms[:records])
        cut = (
            f"The file ends within a record, after {records} whole ones: the run is being "
            "recorded, or was cut off."
        )
        assert [str(note) for note in found.notes] == ([cut] if (length - begin) % size else [])


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_flipped_bytes_are_told_and_never_read_as_numbers(whole, tmp_path_factory, data):
    original, expected = whole
    size = layout.Header(expected.tensors, expected.optimizer).record.itemsize
    begin = len(original) - 4 * size
    changed, path = bytearray(original), tmp_path_factory.getbasetemp() / "flipped"
    at = data.draw(st.integers(0, len(original) - 1))
    changed[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    if at < begin:
        with pytest.raises(Refusal, match=r"^A recording is a file that"):
            read_recording(path)
        return
    found, hit, place = read_recording(path), (at - begin) // size, (at - begin) % size
    if place >= size - 4:  # the padding of a record means nothing
        assert len(found.steps) == 4
        return
    kept = [record for record in range(4) if record != hit]
    np.testing.assert_array_equal(found.norms, expected.norms[kept])
    assert [str(note) for note in found.notes] == [
        f"1 of 4 records are damaged and left out, the first after {hit}."
    ]


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.binary(max_size=400), st.booleans())
def test_files_of_anything_are_refused(tmp_path_factory, data, magic):
    path = tmp_path_factory.getbasetemp() / "anything"
    path.write_bytes(layout.MAGIC * magic + data)
    with pytest.raises(Refusal, match=r"^A recording is a file that"):
        read_recording(path)


def test_headers_that_say_what_is_not_known_are_refused(tmp_path, subtests):
    for header in [
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        b'{"tensors": [], "optimizer": null}',
        b'{"tensors": [{"name": "w", "shape": [1000000000, 2], "axis": 0, "center": "batch", '
        b'"scale": "batch", "groups": 1}], "optimizer": null}',
        b'{"tensors": [{"name": "w", "shape": [3, 2], "axis": 7, "center": "batch", '
        b'"scale": "batch", "groups": 1}], "optimizer": null}',
        b'{"tensors": [{"name": "w", "shape": [3, 2], "axis": 0, "center": "none", '
        b'"scale": "nobody", "groups": 1}], "optimizer": null}',
        b'{"tensors": [{"name": "w", "shape": [3, 2], "axis": 0, "center": "batch", '
        b'"scale": "batch", "groups": 1}], "optimizer": {"key": "lion", "beta1": 9}}',
    ]:
        with subtests.test(header=header):
            path = tmp_path / "run"
            sizes = np.array([len(header), layout.crc32(header)], "<u4").tobytes()
            path.write_bytes(layout.MAGIC + sizes + header)
            with pytest.raises(Refusal, match=r"is none: its header (says|names) "):
                read_recording(path)


def test_a_header_that_claims_more_than_the_limit_is_not_read(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(layout.MAGIC + np.array([2**32 - 1, 0], "<u4").tobytes() + b"{}")
    with pytest.raises(Refusal, match=r"its header claims to be 4,294,967,295 bytes\.$"):
        read_recording(path)


# Bad input.


def test_bad_arguments_of_a_recorder_are_named(tmp_path, subtests):
    for options, sentence in [
        (
            {"blocks": ["w"]},
            "`blocks` must name the recorded weights with the norm behind each, as in "
            "{'fc.weight': 'batch'}; got ['w'].",
        ),
        ({"blocks": {"w": "bat"}}, f"`blocks` must be one of {', '.join(NORMALIZERS)}; got 'bat'."),
        ({"every": 0}, "`every` must be a whole number from 1 up; got 0."),
        ({"neurons": 1}, "`neurons` must be a whole number from -1 to 0; got 1."),
        ({"append": 1}, "`append` must be True or False; got 1."),
        ({"path": 3}, "`path` must be the path of a file; got 3."),
        (
            {"path": "a\0b"},
            "`path` must be the path of a file, without NUL characters; got 'a\\x00b'.",
        ),
        (
            {"biases": ["b"]},
            "`biases` must name the bias of each of the weights that have one, as in {'fc.weight': "
            "'fc.bias'}; got ['b'].",
        ),
        (
            {"biases": {"v": "b"}},
            "`biases` must be of weights that are recorded; 'v' is not among `blocks`. Name it "
            "there as well.",
        ),
        (
            {"biases": {"w": "b"}},
            "A bias is a part of the block where a norm divides by a scale that the bias is in; "
            "that of 'w', batch norm, does not. Leave the bias out.",
        ),
    ]:
        with subtests.test(sentence), says(sentence):
            Recorder(**{"path": tmp_path / "run", "blocks": {"w": "batch"}} | options)


def test_bad_steps_are_named_and_write_nothing(tmp_path, subtests):
    for options, sentence in [
        (
            {"weights": {"v": np.ones((2, 3))}},
            "Weights are named as in the mapping that they are kept in, with / between the names "
            "of nested ones; there is no 'w' in it, which holds v.",
        ),
        (
            {"weights": {"w": np.ones(3)}},
            "Recorded weights are matrices or convolutions, with an axis for the neurons and "
            "others for what each of them weighs; 'w' has the shape (3,). Leave it out.",
        ),
        (
            {"weights": {"w": np.array([["a"]])}},
            "Weights must be arrays of real numbers that NumPy can view, by `__array__` or "
            "`__dlpack__`; 'w' is of type <U1.",
        ),
        (
            {"weights": {"w": None}},
            "Weights must be arrays of real numbers that NumPy can view, by `__array__` or "
            "`__dlpack__`; 'w' is of type object.",
        ),
        ({"rate": -1}, "`rate` must be a finite number from 0 up; got -1."),
        ({"decay": np.ones(2)}, "`decay` must be a finite number from 0 up; got array([1., 1.])."),
    ]:
        with subtests.test(sentence):
            with Recorder(tmp_path / "run", {"w": "batch"}) as recorder:
                arguments = {"weights": {"w": np.ones((2, 3))}, "rate": 0.1} | options
                with says(sentence):
                    recorder.step(**arguments)
                recorder.step({"w": np.ones((2, 3))}, 0.1)
            assert read_recording(tmp_path / "run").steps.tolist()[-1:] == [recorder._step - 1]
        (tmp_path / "run").unlink()


def test_too_many_neurons_are_refused(tmp_path):
    with (
        Recorder(tmp_path / "run", {"w": "batch"}) as recorder,
        says(
            "A recording holds up to 1,000,000 neurons; these are 1,000,001. Leave some weights "
            "out."
        ),
    ):
        recorder.step({"w": np.ones((1_000_001, 1), np.float32)}, 0.1)


# Checkpoints.


@pytest.mark.parametrize("suffix", ["npz", "safetensors"])
def test_checkpoints_are_recorded_in_order(tmp_path, suffix):
    run = a_run(3)
    files = [tmp_path / f"{t}.{suffix}" for t in range(3)]
    for file, weights in zip(files, run, strict=True):
        more = weights | {"bias": np.ones(3)}
        np.savez(file, **more) if suffix == "npz" else save_file(more, file)
    record_checkpoints(files, tmp_path / "some", BLOCKS, 0.1, steps=[0, 10, 30], optimizer="lion")
    found = read_recording(tmp_path / "some")
    expected = recorded(tmp_path / "whole", run)
    assert (found.steps.tolist(), found.spans.tolist()) == ([0, 10, 30], [0, 10, 20])
    np.testing.assert_array_equal(found.norms, expected.norms)
    np.testing.assert_array_equal(found.angles, expected.angles)
    np.save(tmp_path / "w.npy", run[0]["a"])
    record_checkpoints([tmp_path / "w.npy"] * 2, tmp_path / "one", {"w": "batch"}, 0.1)
    assert (read_recording(tmp_path / "one").angles[1] == 0).all()


def test_a_checkpoint_without_a_name_says_what_it_holds(tmp_path):
    np.savez(tmp_path / "a.npz", u=np.ones((2, 3)), v=np.ones((2, 3)))
    with says(
        "Weights are named as in the mapping that they are kept in, with / between the names of "
        "nested ones; there is no 'w' in it, which holds u, v."
    ):
        record_checkpoints([tmp_path / "a.npz"] * 2, tmp_path / "run", {"w": "batch"}, 0.1)


def test_bad_lists_of_checkpoints_are_named(tmp_path, subtests):
    for files, steps, sentence in [
        (
            ["a.npz"],
            None,
            "Checkpoints must be two or more files with a step for each, rising; got 1 files and "
            "1 steps.",
        ),
        (
            ["a.npz", "b.npz"],
            [3, 3],
            "Checkpoints must be two or more files with a step for each, rising; got 2 files and "
            "2 steps.",
        ),
        ("a.npz", None, "`files` must be a list of paths, in order; got 'a.npz'."),
        ([1, 2], None, "`files` must be the path of a file; got 1."),
    ]:
        with subtests.test(sentence), says(sentence):
            record_checkpoints(files, tmp_path / "run", {"w": "batch"}, 0.1, steps=steps)


@pytest.mark.parametrize("neurons", [0, -1])
@pytest.mark.parametrize("norm", ["batch", "layer", "rms", "weight"])
def test_recorder_holds_at_most_three_copies_of_what_it_records(norm, neurons, tmp_path):
    W = np.random.default_rng(0).standard_normal((512, 1024)).astype(np.float32)
    recorder = Recorder(tmp_path / "run", {"w": norm}, neurons=neurons)
    tracemalloc.start()
    for _ in range(3):
        recorder.step({"w": W}, 0.1, gradients={"w": W})
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    recorder.close()
    assert most <= 3 * W.nbytes


def test_threads_record_the_same_numbers(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    steps = [{name: rng.standard_normal((9, 40)) for name in "abcdef"} for _ in range(4)]
    norms = dict(
        zip("abcdef", ("batch", "layer", "rms", "weight", "standard", "group"), strict=True)
    )
    norms["f"] = Normalizer("layer", "layer", groups=3)
    files = []
    for name, few in (("one", 10**9), ("several", 0)):
        monkeypatch.setattr("normgeo.recordings.recorder.FEW", few)
        with Recorder(tmp_path / name, norms) as recorder:
            for weights in steps:
                recorder.step(weights, 0.1, gradients=weights)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
