"""The names of `normgeo`: one list, grouped like the packages, and old names still work."""

import importlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import normgeo

ROOT = Path(__file__).parents[1]

# `normgeo.__all__` of version 0.1.
OLD = re.findall(
    r"\w+",
    """
    FAMILIES GRID NORMALIZERS OPTIMIZERS TABLE_1 TRANSFORMS Balance Comparison Constant DoublingRow
    Explanation Exponential Fisher Fit GainMetric History Network Normalized NormalizedGLM
    Normalizer NullSpace PlanePath Recurrence Spectrum Trajectory TurnCurve Twin Witness
    batch_drift batch_noise certify compare descend doubling_table expected_dimension explain
    exponential_twin fisher fit gain_metric hold_out invariance_table jacobian_norms kl null_space
    plane_path run_recurrence shared_statistics simulate_balance smallest_witness spectrum sweep
    train turn_against_norm
    """,
)
RENAMED = sorted({*OLD} - {*normgeo.__all__})
PACKAGES = (
    "datasets",
    "normalizers",
    "invariance",
    "models",
    "fisher",
    "null_directions",
    "dynamics",
    "networks",
    "sequences",
    "recordings",
    "checkpoints",
    "measured",
)


def test_names_of_the_first_version_are_there() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert [name for name in OLD if getattr(normgeo, name, None) is None] == []


def test_old_name_says_the_new_one_and_is_it(subtests: pytest.Subtests) -> None:
    for name in RENAMED:
        with subtests.test(name=name):
            with pytest.warns(DeprecationWarning, match=rf"^normgeo\.{name} is ") as told:
                found = getattr(normgeo, name)
            (new,) = re.findall(r"normgeo\.(\w+)", str(told[0].message))[1:]
            assert new in normgeo.__all__
            assert found is getattr(normgeo, new)
            assert told[0].filename == __file__, "the warning points at who uses the old name"


def test_name_that_never_was_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'TurnCurves'"):
        _ = normgeo.TurnCurves


def test_names_are_grouped_as_the_packages() -> None:
    source = (ROOT / "normgeo" / "__init__.py").read_text("utf-8")
    listed = source[source.index("__all__ = [") : source.index("\n]\n")]
    groups = re.split(r"\n    # (\w+)\n", listed)[1:]
    assert tuple(groups[::2]) == PACKAGES
    found = []
    for package, names in zip(groups[::2], groups[1::2], strict=True):
        members = re.findall(r'"(\w+)"', names)
        assert members == sorted(members, key=lambda name: (not name.isupper(), name))
        for name in members:
            module = re.search(
                rf"^from (normgeo\.{package}\.[\w.]+) import .*\b{name}\b", source, re.M
            )
            assert module, f"{name} is not of {package}"
            defined = importlib.import_module(module[1])
            assert getattr(defined, name) is getattr(normgeo, name)
        found += members
    assert found == normgeo.__all__


def test_docstring_says_what_every_letter_stands_for() -> None:
    assert normgeo.__doc__
    for letter in "NDHPXWbgA":
        assert re.search(rf"\b{letter}\b", normgeo.__doc__), letter


def test_star_import_gives_the_names_and_warns_of_none() -> None:
    code = "from normgeo import *; print(sorted(set(dir()) & set(__import__('normgeo').__all__)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(sorted(normgeo.__all__))
