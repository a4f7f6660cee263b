"""Calls of recorders and of functions that read their files, each in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import strategies as st

import normgeo as ng
from normgeo.base.refusal import Refusal
from normgeo.measured.saved.examples import EXAMPLES

from .calls import Draw, array, call, rate, require_finite


def in_a_folder(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run the function in a new folder with a recording, a table and checkpoints."""

    @wraps(function)
    def within(*arguments: Any, **options: Any) -> Any:
        before = Path.cwd()
        with TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                with ng.Recorder("there.run", {"w": "batch"}, optimizer="adam") as recorder:
                    for step in range(6):
                        weights = np.eye(2, 3) + 0.1 * step
                        np.savez(f"{step}.npz", w=weights, b=weights[:, 0])
                        recorder.step({"w": weights}, 0.1, decay=0.1)
                copy(EXAMPLES["decoder"].path, "there.json")
                return function(*arguments, **options)
            except OSError as error:  # no such file, which is not the function's fault
                raise Refusal(str(error)) from error
            finally:
                os.chdir(before)

    return within


def check_recording(answer: ng.Recording, arguments: dict[str, Any]) -> None:
    assert answer.norms.shape == answer.angles.shape == (6, 2)
    require_finite([answer.norms, answer.angles[1:]])


@call("read_recording", in_a_folder(ng.read_recording), check_recording)
def _(draw: Draw) -> dict[str, Any]:
    return {"path": "there.run", "optimizer": draw(st.sampled_from([None, *ng.OPTIMIZERS]))}


def nothing(answer: Any, arguments: dict[str, Any]) -> None:
    assert answer is None


@call("record_checkpoints", in_a_folder(ng.record_checkpoints), nothing)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "files": ["0.npz", "3.npz"],
        "path": "new.run",
        "blocks": {"w": draw(st.sampled_from([*ng.NORMALIZERS]))},
        "rate": rate(draw),
        "decay": 0.1,
        "steps": draw(st.sampled_from([None, [0, 3]])),
        "optimizer": draw(st.sampled_from([None, *ng.OPTIMIZERS])),
        "neurons": draw(st.sampled_from([0, -1])),
        "biases": draw(st.sampled_from([None, {"w": "b"}])),
    }


@in_a_folder
@wraps(ng.Recorder)
def a_recorder(**options: Any) -> ng.Recorder:
    recorder = ng.Recorder(**options)
    recorder.close()
    return recorder


@call("Recorder", a_recorder, lambda answer, arguments: None)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "path": "new.run",
        "blocks": {"w": draw(st.sampled_from([*ng.NORMALIZERS]))},
        "optimizer": draw(st.sampled_from([None, *ng.OPTIMIZERS])),
        "every": draw(st.sampled_from([1, 10])),
        "neurons": draw(st.sampled_from([0, -1])),
        "append": draw(st.booleans()),
        "biases": draw(st.sampled_from([None, {"w": "b"}])),
    }


@in_a_folder
@wraps(ng.Recorder.step)
def a_step(self: Any, **options: Any) -> int:
    with ng.Recorder("new.run", {"w": "layer"}) as recorder:
        recorder.step(**options)
    return len(ng.read_recording("new.run").steps)


def one(answer: Any, arguments: dict[str, Any]) -> None:
    assert answer == 1


@call("Recorder.step", a_step, one)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "self": "made within",
        "weights": {"w": array(draw, 4, 3)},
        "rate": rate(draw),
        "decay": draw(st.sampled_from([0.0, {"w": 0.1}])),
        "gradients": draw(st.sampled_from([None, {"w": np.ones((4, 3))}])),
        "at": draw(st.sampled_from([None, 0, 7])),
    }


@in_a_folder
@wraps(ng.findings)
def found(run: Any, **options: Any) -> tuple[ng.BlockFinding, ...]:
    return ng.findings(ng.read_recording("there.run") if run is None else run, **options)


def check_findings(answer: tuple[ng.BlockFinding, ...], arguments: dict[str, Any]) -> None:
    assert len(answer) == 2
    for finding in answer:
        require_finite([finding.norm, finding.angle, finding.effective_rate])
        assert finding.verdict


@call("findings", found, check_findings)
def _(draw: Draw) -> dict[str, Any]:
    return {
        "run": None,
        "optimizer": draw(st.sampled_from([None, *ng.OPTIMIZERS])),
        "frozen": draw(st.sampled_from([0.01, 1e-300, 1e300])),
        "within": draw(st.sampled_from([0.1, 1e-300])),
    }
