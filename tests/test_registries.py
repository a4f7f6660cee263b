"""A member of a registry has its own name, behavior and look: no code checks its key."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from normgeo import FAMILIES, NORMALIZERS, OPTIMIZERS
from normgeo.normalizers.centers import CENTERS
from normgeo.normalizers.scales import SCALES

ROOT = Path(__file__).parents[1]

# Only a registry's own package may know its members.
KEYS: Mapping[str, frozenset[str]] = {
    "normgeo/normalizers/": frozenset(NORMALIZERS) | frozenset(CENTERS) | frozenset(SCALES),
    "normgeo/models/": frozenset(FAMILIES),
    "normgeo/dynamics/": frozenset(OPTIMIZERS),
}

# Words that look like keys of a registry but are none, with the reason.
OTHER_WORDS: Mapping[tuple[str, str], str] = {
    ("normgeo/ui/frame.py", "batch"): "the page of that name",
    **{
        (f"normgeo/pictures/{figure}.py", "layer"): "plotly: how deep a shape lies"
        for figure in (
            "fisher/blocks_figure",
            "invariance/where_z_lives_figure",
            "style/sheet/shapes",
        )
    },
    ("normgeo/pictures/batch/noise.py", "batch"): "the column of batch sizes",
    ("normgeo/checkpoints/modules.py", "weight"): "the role of a tensor",
    ("normgeo/torch/layers_with_norms.py", "weight"): "the role of a tensor",
    ("normgeo/cli/layer.py", "layer"): "the option that names one",
    ("normgeo/experiments/networks/training.py", "batch"): "the size of batches",
    **{
        (f"normgeo/pictures/depth/{file}.py", "none"): "the network without a norm"
        for file in ("accuracy", "places_figure", "recommendation")
    },
    ("normgeo/tables/layers.py", "layer"): "the column of layers",
    **{
        ("normgeo/fisher/gain_metric.py", word): "what the appendix prints, a quotation"
        for word in ("batch", "layer", "weight", "none")
    },
}

# The paper speaks of batch, weight and layer norm, so code that quotes it names them.
QUOTATIONS = ("normgeo/claims/",)


def uses_of_keys(source: str, keys: frozenset[str]) -> Iterator[tuple[int, str]]:
    """The lines that compare with a key, look one up, or list values by key; and the key."""
    for node in ast.walk(ast.parse(source)):
        asked: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                asked += side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
        elif isinstance(node, ast.Dict):
            asked += node.keys
        elif isinstance(node, ast.MatchValue):
            asked.append(node.value)
        for value in asked:
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            for part in parts:
                if isinstance(part, ast.Constant) and part.value in keys:
                    yield node.lineno, str(part.value)


@cache
def found_in(file: Path) -> tuple[tuple[str, int, str], ...]:
    name = file.relative_to(ROOT).as_posix()
    keys = frozenset().union(*(k for home, k in KEYS.items() if not name.startswith(home)))
    return tuple((name, *use) for use in uses_of_keys(file.read_text("utf-8"), keys))


def test_nobody_asks_for_a_key_outside_its_registry() -> None:
    files = [*ROOT.glob("normgeo/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]
    quoting = [f for f in files if f.relative_to(ROOT).as_posix().startswith(QUOTATIONS)]
    asked = [use for file in files if file not in quoting for use in found_in(file)]
    assert [(name, line, key) for name, line, key in asked if (name, key) not in OTHER_WORDS] == []


def test_checker_finds_a_planted_question(subtests: pytest.Subtests) -> None:
    for source in [
        'if key == "batch": pass',
        'if "adam" != rule: pass',
        'x = word in ("none", "layer")',
        'x = {"poisson": 1}',
        'x = {("batch", "batch"): "#0B7ABD"}',
        'match key:\n    case "rms":\n        pass',
    ]:
        with subtests.test(source=source):
            assert list(uses_of_keys(source, frozenset().union(*KEYS.values())))


def test_exceptions_are_still_needed() -> None:
    files = ROOT.glob("normgeo/**/*.py")
    assert set(OTHER_WORDS) <= {(name, key) for file in files for name, _, key in found_in(file)}
