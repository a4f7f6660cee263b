"""Imports point downward, and heavy libraries stay where they belong."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# From the bottom up. A module imports from the lines above its own in this list, never from its
# own line. A name stands for a module, or for a package with everything in it.
LAYERS = (
    ("normgeo.text", "normgeo.characters", "normgeo._arrays", "normgeo.ended"),
    ("normgeo.files",),
    ("normgeo.subspaces",),
    ("normgeo.centres", "normgeo.exact", "normgeo.family", "normgeo.activations"),
    ("normgeo.norm_laws", "normgeo.schedules", "normgeo.mini_batches"),
    ("normgeo.scales", "normgeo.optimizers"),
    ("normgeo.linearization",),
    ("normgeo.fixed_cases",),
    ("normgeo.normalizers", "normgeo.transforms", "normgeo.families"),
    ("normgeo.model", "normgeo.invariance", "normgeo.blocks", "normgeo.datasets"),
    (
        "normgeo.witness",
        "normgeo.effect",
        "normgeo.averages",
        "normgeo.laws",
        "normgeo.objective",
        "normgeo.fisher_structure",
        "normgeo.layers",
    ),
    ("normgeo.fisher_storage", "normgeo.trajectory"),
    (
        "normgeo.fisher",
        "normgeo.divergence",
        "normgeo.network",
        "normgeo.recurrent",
        "normgeo.running",
        "normgeo.batch",
        "normgeo.axes",
    ),
    ("normgeo.neighbourhood", "normgeo.neuron_blocks"),
    (
        "normgeo.dynamics",
        "normgeo.comparisons",
        "normgeo.equilibrium",
        "normgeo.spiral",
        "normgeo.fitting",
        "normgeo.turn",
        "normgeo.loss_plane",
        "normgeo.doubling",
        "normgeo.ellipse",
        "normgeo.memory",
        "normgeo.training",
        "normgeo.null_space",
        "normgeo.spectrum",
        "normgeo.magnitude",
        "normgeo.labels",
    ),
    ("normgeo.null_chain", "normgeo.twin", "normgeo.kl_contours"),
    ("normgeo.reasons",),
    ("normgeo.symmetry",),
    ("normgeo.claims",),
    ("normgeo.settings", "normgeo.tables"),
    ("normgeo.verdict_tables", "normgeo.audit_tables", "normgeo.fisher_tables", "normgeo.scene"),
    ("normgeo.cli",),
    ("normgeo",),
    ("normgeo.figures.template", "normgeo.figures.browser"),
    (
        "normgeo.figures.export",
        "normgeo.figures.wedges",
        "normgeo.figures.values",
        "normgeo.figures.lines",
        "normgeo.figures.player",
    ),
    ("normgeo.figures", "normgeo.report"),
    ("normgeo.views",),
    ("normgeo.ui", "normgeo.__main__"),
    ("pages", "app"),
)
HEIGHT = {unit: height for height, line in enumerate(LAYERS) for unit in line}

# Packages whose modules may import each other.
OPEN_INSIDE = {"normgeo.ui", "normgeo.claims", "normgeo.views", "normgeo.cli"}

# Who may import a library at all, and who may only inside a function.
HOMES = {
    "streamlit": {"normgeo.ui", "pages", "app"},
    "plotly": {"normgeo.figures"},
    "kaleido": {"normgeo.figures"},
    "sklearn": {"normgeo.datasets"},
}
ONLY_INSIDE_FUNCTIONS = {"sklearn", "kaleido"}


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {
    module_name(file): file
    for pattern in ("app.py", "normgeo/**/*.py", "pages/**/*.py")
    for file in ROOT.glob(pattern)
}


def unit_of(module: str) -> str | None:
    """The longest declared name that `module` is, or is inside of; None for an unplaced one.

    `normgeo` itself is a façade, not a home: its modules are declared one by one.
    """
    if module in HEIGHT:
        return module
    parent = module.rpartition(".")[0]
    return unit_of(parent) if parent and parent != "normgeo" else None


def is_inside(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def imports(tree: ast.Module, module: str, is_package: bool) -> Iterator[tuple[str, bool]]:
    """Every imported module, absolute, with whether the import is inside a function."""
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in inside
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".") if is_package else module.split(".")[:-1]
                above = package[: len(package) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                # In `from normgeo import model` the last word is a module; often it is not.
                member = f"{base}.{alias.name}"
                yield member if member in FILES or member in HEIGHT else base, id(node) in inside


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """What the imports of one module break, in sentences."""
    own = unit_of(module)
    if own is None:
        return [f"{module} has no place in LAYERS: put it on the line it belongs to."]
    broken = []
    for target, inside_function in imports(ast.parse(source), module, is_package):
        library = target.partition(".")[0]
        if library in HOMES:
            if not any(is_inside(module, home) for home in HOMES[library]):
                broken.append(f"{module} imports {library}, which only {HOMES[library]} may.")
            elif library in ONLY_INSIDE_FUNCTIONS and not inside_function:
                broken.append(f"{module} imports {library} outside of a function.")
        elif library in {"normgeo", "pages", "app"}:
            unit = unit_of(target)
            if unit is None:
                broken.append(f"{module} imports {target}, which has no place in LAYERS.")
            elif unit == own:
                is_its_member = is_package and is_inside(target, module)
                if own not in OPEN_INSIDE and not is_its_member:
                    broken.append(f"{module} imports its sibling {target}.")
            elif HEIGHT[unit] == HEIGHT[own]:
                broken.append(f"{module} imports {target}, which is on its own line.")
            elif HEIGHT[unit] > HEIGHT[own]:
                broken.append(f"{module} imports {target}, which is above it.")
    return broken


@pytest.mark.parametrize("module", sorted(FILES))
def test_imports_point_downward(module: str) -> None:
    file = FILES[module]
    assert violations(file.read_text("utf-8"), module, file.name == "__init__.py") == []


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("normgeo.model", "from normgeo.fisher import fisher", "above"),
        ("normgeo.model", "from normgeo import fisher", "above"),
        ("normgeo.model", "import normgeo.views", "above"),
        ("normgeo.model", "from . import figures", "above"),
        ("normgeo.model", "from .fisher import fisher", "above"),
        ("normgeo.model", "from normgeo import NormalizedGLM", "above"),
        ("normgeo.model", "def late():\n    from normgeo import views", "above"),
        ("normgeo.scales", "from normgeo.normalizers import Normalizer", "above"),
        ("normgeo.figures.template", "from normgeo.figures.export import write", "above"),
        ("normgeo.figures.export", "from normgeo.figures import heatmap", "above"),
        ("normgeo.model", "from normgeo.invariance import certify", "on its own line"),
        ("normgeo.__main__", "from normgeo.ui import frame", "on its own line"),
        ("pages.home", "import app", "on its own line"),
        ("pages.home", "from pages import invariance", "sibling"),
        ("normgeo.figures.plane", "from normgeo.figures.heatmap import draw", "sibling"),
        ("normgeo.figures.plane", "from .heatmap import draw", "sibling"),
        ("normgeo.model", "import normgeo.utils", "no place"),
        ("normgeo.utils", "", "no place"),
        ("normgeo.views", "import streamlit as st", "streamlit"),
        ("normgeo.views", "import plotly.graph_objects as go", "plotly"),
        ("pages.home", "from plotly import express", "plotly"),
        ("normgeo.model", "def load():\n    import sklearn.datasets", "sklearn"),
        ("normgeo.datasets", "from sklearn.datasets import load_digits", "outside of a function"),
    ],
)
def test_checker_finds_a_planted_mistake(module: str, source: str, complaint: str) -> None:
    """Negative control: each of these must be found."""
    (found,) = violations(source, module)
    assert complaint in found


@pytest.mark.parametrize(
    ("module", "source", "is_package"),
    [
        ("normgeo.model", "import numpy\nfrom normgeo._arrays import real_array", False),
        ("normgeo.fisher", "from . import model\nfrom .model import fit", False),
        ("normgeo.datasets", "def load():\n    from sklearn.datasets import load_iris", False),
        ("normgeo.figures.plane", "import plotly\nfrom .template import layout", False),
        ("normgeo.figures", "from normgeo.figures.plane import draw", True),
        ("normgeo", "from normgeo.model import NormalizedGLM", True),
        ("normgeo.views", "from normgeo import NormalizedGLM", False),
        ("normgeo.ui.frame", "import streamlit\nfrom normgeo.ui.controls import menu", False),
        ("pages.home", "import streamlit\nfrom normgeo.ui import frame", False),
    ],
)
def test_checker_allows_what_the_layers_allow(module: str, source: str, is_package: bool) -> None:
    assert violations(source, module, is_package) == []


def test_importing_normgeo_loads_no_heavy_library() -> None:
    code = f"import sys, normgeo; print([m for m in {sorted(HOMES)} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
