"""Imports point downward from package to package, and heavy libraries stay where they belong."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from inspect import ismodule
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]

# From the bottom up. A file imports from the lines above its package's own, and from its own
# package; packages on one line do not import each other. `normgeo` itself is the list of public
# names: `normgeo/__init__.py` imports the names it lists, and others import only its version.
PACKAGES = (
    ("normgeo.base",),
    ("normgeo.datasets", "normgeo.normalizers", "normgeo.workers"),
    ("normgeo.invariance", "normgeo.models"),
    ("normgeo.fisher",),
    ("normgeo.null_directions", "normgeo.dynamics"),
    ("normgeo.networks", "normgeo.sequences", "normgeo.experiments"),
    ("normgeo.claims", "normgeo.recordings", "normgeo.checkpoints"),
    ("normgeo.tables",),
    ("normgeo.measured",),
    ("normgeo.torch", "normgeo.jax", "normgeo.keras"),
    ("normgeo.callbacks",),
    ("normgeo.settings",),
    ("normgeo.pictures",),
    ("normgeo.story",),
    ("normgeo.ui", "normgeo.cli"),
    ("normgeo.__main__", "pages", "app"),
)
HEIGHT = {package: height for height, line in enumerate(PACKAGES) for package in line}
FACADE = "normgeo"
VERSION = "normgeo.__version__"

# Who may import a library at all, and which libraries may only be imported inside a function.
STREAMLIT = re.compile(r"normgeo\.ui(\.|$)|pages(\.|$)|app$")
PLOTLY = re.compile(r"normgeo\.pictures\.(style(\.|$)|.*_figure$)")
HOMES = {
    "streamlit": STREAMLIT,
    "plotly": PLOTLY,
    "choreographer": PLOTLY,
    "sklearn": re.compile(r"normgeo\.datasets\."),
    "pandas": re.compile(r"normgeo\.(datasets|tables)\."),
    "safetensors": re.compile(r"normgeo\.datasets\."),
    "dask": re.compile(r"normgeo\.datasets\."),
    "distributed": re.compile(r"normgeo\.datasets\."),
    "pyarrow": re.compile(r"normgeo\.datasets\."),
    "loky": re.compile(r"normgeo\.workers\."),
    "cloudpickle": re.compile(r"normgeo\.workers\."),
    "psutil": re.compile(r"normgeo\.workers\."),
    "torch": re.compile(r"normgeo\.(torch|keras)\."),
    "jax": re.compile(r"normgeo\.(jax|keras|experiments)\."),
    "optax": re.compile(r"normgeo\.(jax|experiments)\."),
    "keras": re.compile(r"normgeo\.(keras|callbacks)\."),
    "transformers": re.compile(r"normgeo\.callbacks\."),
    "pytorch_lightning": re.compile(r"normgeo\.callbacks\."),
}
ONLY_INSIDE_FUNCTIONS = {
    "sklearn",
    "dask",
    "distributed",
    "pandas",
    "choreographer",
    "safetensors",
    "pyarrow",
    "torch",
    "jax",
    "optax",
}

# Files that are JAX throughout import it at their top, and others import these as they import JAX.
ALL_JAX = re.compile(r"normgeo\.experiments\.networks\.")

# Documented names of other packages. Other names may change with any release.
PUBLIC = {
    "streamlit": {"streamlit", "streamlit.typing"},
    "plotly": {"plotly", "plotly.graph_objects", "plotly.io", "plotly.io.json", "plotly.offline"},
    "choreographer": {"choreographer", "choreographer.errors", "choreographer.utils"},
}
MODULES = {
    *("st.components", "st.components.v1", "st.components.v2", "st.column_config"),
    "go.layout",
}
# A member whose name begins with an underscore, accessed or destructured, and React's keys on
# elements.
PRIVATE_IN_SCRIPTS = re.compile(r"(?:\.|[{,]\s*|\[[\"'`])_[A-Za-z]\w*|__react\w*")

FIGURE = re.compile(r"normgeo\.pictures\.(?!style\.).*_figure$")
REGISTRY = re.compile(r"normgeo\.pictures\.\w+$")  # the package of a page, which pairs the two
MOST_FILES = 18  # in a folder of pictures, two per picture; other folders have about ten


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {
    module_name(file): file
    for pattern in ("app.py", "normgeo/**/*.py", "pages/**/*.py")
    for file in ROOT.glob(pattern)
}


def package_of(module: str) -> str | None:
    """The package of PACKAGES that is the module or contains it; None for an unknown one."""
    while module and module != FACADE:
        if module in HEIGHT:
            return module
        module = module.rpartition(".")[0]
    return None


@cache
def imports(source: str, module: str, is_package: bool = False) -> tuple[tuple[str, bool], ...]:
    """Every imported module, absolute, and whether the import is inside a function."""
    return tuple(_imports(source, module, is_package))


def _imports(source: str, module: str, is_package: bool) -> Iterator[tuple[str, bool]]:
    tree = ast.parse(source)
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
                # In `from normgeo.models import glm` the last name is a module; often it is not.
                member = f"{base}.{alias.name}"
                is_module = member in FILES or member in HEIGHT or member == VERSION
                yield member if is_module else base, id(node) in inside


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """The rules that the imports of one module break, in sentences."""
    if module == FACADE:
        return []
    own = package_of(module)
    if own is None:
        return [f"{module} has no place in PACKAGES: put it into the package it belongs to."]
    broken = []
    for target, inside_function in imports(source, module, is_package):
        library = target.partition(".")[0]
        if library in HOMES:
            if not HOMES[library].match(module):
                broken.append(f"{module} imports {library}, which is not for it.")
            elif (
                library in ONLY_INSIDE_FUNCTIONS
                and not inside_function
                and not (library in {"jax", "optax"} and ALL_JAX.match(module))
            ):
                broken.append(f"{module} imports {library} outside of a function.")
        elif library in {"normgeo", "pages", "app"} and target != VERSION:
            package = package_of(target)
            if target == FACADE:
                broken.append(f"{module} imports from the list of public names.")
            elif package is None:
                broken.append(f"{module} imports {target}, which has no place in PACKAGES.")
            elif package == "pages":
                broken.append(f"{module} imports the page {target}.")
            elif package != own and HEIGHT[package] == HEIGHT[own]:
                broken.append(f"{module} imports {target}, which is on its own line.")
            elif HEIGHT[package] > HEIGHT[own]:
                broken.append(f"{module} imports {target}, which is above it.")
            elif ALL_JAX.match(target) and not (inside_function or ALL_JAX.match(module)):
                broken.append(f"{module} imports {target} outside of a function.")
            elif FIGURE.match(target) and not (FIGURE.match(module) or REGISTRY.match(module)):
                broken.append(f"{module} imports the figure {target}.")
    return broken


def private_names(source: str) -> list[str]:
    """The names in a module that a package of `PUBLIC` does not document."""
    tree, found, known = ast.parse(source), list[str](), dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            taken = [(alias.name, alias.name, alias.asname) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            base = str(node.module)
            taken = [(base, f"{base}.{alias.name}", alias.asname) for alias in node.names]
        else:
            continue
        for module, name, own in taken:
            library = module.partition(".")[0]
            if library in PUBLIC:
                short = name.rpartition(".")[2]
                known[own or short] = name
                if name not in PUBLIC[library] and (
                    module not in PUBLIC[library] or short.startswith("_") or is_module(name)
                ):
                    found.append(name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            words = ast.unparse(node)
            first, *rest = words.split(".")
            if first in known and (
                (rest[-1].startswith("_") and not rest[-1].startswith("__"))
                or (words not in MODULES and is_module(".".join([known[first], *rest])))
            ):
                found.append(words)
    return found


def is_module(name: str) -> bool:
    """Whether a dotted name is a module, not a function of the same name."""
    library, *rest = name.split(".")
    found: Any = importlib.import_module(library)
    for word in rest:
        found = getattr(found, word, None) if ismodule(found) else None
    return ismodule(found)


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The cycles of a directed graph, each as a path that ends where it began."""
    state: dict[str, int] = {}
    found: list[list[str]] = []

    def visit(node: str, path: list[str]) -> None:
        state[node] = 1
        for target in graph.get(node, ()):
            if state.get(target) == 1:
                found.append([*path[path.index(target) :], target])
            elif target not in state:
                visit(target, [*path, target])
        state[node] = 2

    for node in graph:
        if node not in state:
            visit(node, [node])
    return found


def graph_of_files() -> dict[str, set[str]]:
    """The files that each file imports, without the list of public names."""
    return {
        module: {
            target
            for target, _ in imports(file.read_text("utf-8"), module, file.name == "__init__.py")
            if target in FILES and target not in {module, FACADE}
        }
        for module, file in FILES.items()
        if module != FACADE
    }


def test_imports_point_downward() -> None:
    assert [
        broken
        for module, file in FILES.items()
        for broken in violations(file.read_text("utf-8"), module, file.name == "__init__.py")
    ] == []


def test_files_form_no_circle() -> None:
    assert circles(graph_of_files()) == []


def test_only_public_names_of_other_packages_are_used() -> None:
    private = {module: private_names(file.read_text("utf-8")) for module, file in FILES.items()}
    assert {module: names for module, names in private.items() if names} == {}


def test_scripts_use_only_public_names_of_other_packages() -> None:
    scripts = [*ROOT.glob("normgeo/**/*.js")]
    assert len(scripts) > 10
    private = {file.name: PRIVATE_IN_SCRIPTS.findall(file.read_text("utf-8")) for file in scripts}
    assert {name: names for name, names in private.items() if names} == {}


def test_checker_finds_a_planted_private_name(subtests: pytest.Subtests) -> None:
    st = "import streamlit as st\n"
    for source, name in [
        ("from streamlit import runtime", "streamlit.runtime"),
        (
            "from streamlit.runtime.scriptrunner import get_script_run_ctx",
            "streamlit.runtime.scriptrunner.get_script_run_ctx",
        ),
        ("from streamlit.delta_generator import DeltaGenerator", "DeltaGenerator"),
        ("from plotly.basedatatypes import BaseFigure", "BaseFigure"),
        ("from plotly.io import _json", "plotly.io._json"),
        (f"{st}def page():\n    st.runtime.exists()", "st.runtime"),
        (f"{st}st.session_state._state", "st.session_state._state"),
        ("import plotly.graph_objects as go\ngo.Figure._repr_html_", "go.Figure._repr_html_"),
    ]:
        with subtests.test(name):
            (found,) = private_names(source)
            assert found.endswith(name)
    public = f"{st}from plotly import graph_objects as go\nst.components.v2.component(go.Figure())"
    assert private_names(public) == []
    for script, found in [
        ("plot._fullLayout.xaxis", ["._fullLayout"]),
        ("const { data, _transitionData: moved } = plot", [", _transitionData"]),
        ("plot['_context']", ["['_context"]),
        ("Object.keys(box).find((key) => key.startsWith('__reactFiber$'))", ["__reactFiber"]),
        ("[class*='_pin '], (_, size) => size, last_one.x", []),
    ]:
        with subtests.test(script):
            assert PRIVATE_IN_SCRIPTS.findall(script) == found


def test_every_package_exists_and_holds_what_a_reader_can_survey() -> None:
    folders = {file.parent for file in FILES.values()}
    packages = [p for line in PACKAGES for p in line if p not in {"normgeo.__main__", "app"}]
    assert all(ROOT.joinpath(*p.split(".")).exists() or p in FILES for p in packages)
    crowded = {
        str(folder.relative_to(ROOT)): count
        for folder in folders
        if (count := len([f for f in folder.glob("*.py") if f.name != "__init__.py"])) > MOST_FILES
    }
    assert crowded == {}


def test_checker_finds_a_planted_mistake(subtests: pytest.Subtests) -> None:
    """Negative control: each of these must be found."""
    for module, source, complaint in [
        ("normgeo.models.glm", "from normgeo.fisher.operator import fisher", "above"),
        ("normgeo.models.glm", "import normgeo.pictures", "above"),
        ("normgeo.models.glm", "from ..fisher import operator", "above"),
        ("normgeo.models.glm", "from normgeo import pictures", "above"),
        ("normgeo.models.glm", "from normgeo import NormalizedGLM", "public names"),
        ("normgeo.models.glm", "def late():\n    from normgeo import pictures", "above"),
        ("normgeo.models.glm", "from normgeo.invariance.exact import draw", "on its own line"),
        ("normgeo.normalizers.scales", "import normgeo.datasets.files", "on its own line"),
        ("normgeo.cli.audit", "from normgeo.ui import frame", "on its own line"),
        ("normgeo.__main__", "import app", "on its own line"),
        ("pages.home", "from pages import invariance", "the page"),
        ("app", "from pages import invariance", "the page"),
        ("normgeo.models.glm", "import normgeo.utils", "no place"),
        ("normgeo.utils", "", "no place"),
        ("normgeo.pictures", "import streamlit as st", "streamlit"),
        ("normgeo.pictures.picture", "import plotly.graph_objects as go", "plotly"),
        ("normgeo.pictures.home.averages", "import plotly", "plotly"),
        ("pages.home", "from plotly import express", "plotly"),
        ("normgeo.models.glm", "def load():\n    import sklearn.datasets", "sklearn"),
        ("normgeo.datasets.sources", "from sklearn.datasets import load_iris", "outside of a"),
        ("normgeo.experiments.results", "import jax", "outside of a"),
        ("normgeo.experiments.networks.draw", "import sklearn", "which is not for it"),
        ("normgeo.cli.audit", "from normgeo.experiments.networks.draw import init", "outside of a"),
        (
            "normgeo.pictures.home.averages",
            "from normgeo.pictures.home.averages_figure import figure",
            "the figure",
        ),
        ("normgeo.ui.home", "import normgeo.pictures.home.averages_figure", "the figure"),
    ]:
        with subtests.test(complaint):
            (found,) = violations(source, module)
            assert complaint in found


def test_checker_finds_a_planted_circle() -> None:
    graph = {"a": ["b"], "b": ["c", "d"], "c": ["a"], "d": []}
    assert circles(graph) == [["a", "b", "c", "a"]]


def test_checker_allows_what_the_house_allows(subtests: pytest.Subtests) -> None:
    for module, source, is_package in [
        ("normgeo.models.glm", "import numpy\nfrom normgeo.base.arrays import Array", False),
        ("normgeo.fisher.operator", "from . import structure\nfrom .storage import pack", False),
        ("normgeo.fisher.operator", "from normgeo.fisher.structure import Coupled", False),
        ("normgeo.datasets.sources", "def load():\n    from sklearn import datasets", False),
        ("normgeo.pictures.home.averages_figure", "import plotly", False),
        ("normgeo.pictures.style.template", "import plotly", False),
        ("normgeo.pictures.home", "from normgeo.pictures.home.averages_figure import figure", True),
        ("normgeo", "from normgeo.models.glm import NormalizedGLM", True),
        (
            "normgeo.experiments.networks.draw",
            "import jax\nfrom normgeo.experiments.networks import cells",
            False,
        ),
        ("normgeo.tables.report", "from normgeo import __version__", False),
        ("normgeo.ui.frame", "import streamlit\nfrom normgeo.ui.controls import menu", False),
        ("pages.home", "import streamlit\nfrom normgeo.ui import frame", False),
    ]:
        with subtests.test(module=module):
            assert violations(source, module, is_package) == []


# Where things stand is the sheet's: a figure says what it has.
PLACED = {
    *("domain", "margin", "height", "annotations", "updatemenus", "narrow", "hall"),
    *("add_annotation", "add_shape", "template"),
}


def placed(source: str) -> set[str]:
    """The words of a figure's source that place what a sheet should."""
    nodes = [*ast.walk(ast.parse(source))]
    keys = [key for node in nodes if isinstance(node, ast.Dict) for key in node.keys]
    said = {
        *(key.value for key in keys if isinstance(key, ast.Constant)),
        *(node.arg for node in nodes if isinstance(node, ast.keyword)),
        *(
            part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            for part in nodes
            if isinstance(part, ast.Call)
        ),
        *(node.attr for node in nodes if isinstance(node, ast.Attribute) and node.attr == "domain"),
    }
    return {str(word) for word in said} & PLACED


def test_no_figure_computes_where_things_stand() -> None:
    figures = [*(ROOT / "normgeo" / "pictures").rglob("*_figure.py")]
    assert len(figures) > 30
    found = {file.name: placed(file.read_text("utf-8")) for file in figures}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('axis = {"domain": [0, 0.5]}', "domain"),
        ("figure.update_layout(margin=MARGIN)", "margin"),
        ("figure.add_annotation(note)", "add_annotation"),
        ('meta = {"narrow": layout}', "narrow"),
        ("across = figure.layout.xaxis.domain", "domain"),
    ],
)
def test_a_placing_figure_is_found(line: str, word: str) -> None:
    assert placed(line) == {word}


def test_importing_normgeo_loads_no_heavy_library() -> None:
    code = f"import sys, normgeo; print([m for m in {sorted(HOMES)} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
