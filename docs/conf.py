"""How `make docs` builds the pages of this folder."""

import ast
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
os.environ["PYTHONPATH"] = str(ROOT)  # of the notebook's kernel

import normgeo  # noqa: E402 - from the checkout
from normgeo.pictures import PAGE_OF, PICTURES  # noqa: E402
from normgeo.settings import LANGUAGES, Settings  # noqa: E402
from normgeo.story.page import figure, figures, gallery, page  # noqa: E402
from normgeo.story.story import story  # noqa: E402

project = "normgeo"
author = "the normgeo authors"
version = release = normgeo.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"normgeo {release}"
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
autodoc_typehints = "none"  # a signature in the paper's letters reads better than its types
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

API = Path(__file__).parent / "api"
PACKAGES = {
    "base": "Base",
    "datasets": "Data sets",
    "normalizers": "Normalizers",
    "invariance": "Invariance",
    "models": "Models",
    "fisher": "Fisher information",
    "null_directions": "Null directions",
    "dynamics": "Dynamics",
    "networks": "Residual networks, attention and convolutions",
    "sequences": "Recurrent cells over sequences",
    "recordings": "Recordings",
    "checkpoints": "Layers of one's own network",
    "measured": "One's own network, measured",
}


def homes() -> dict[str, str]:
    """The module of every public name, as `normgeo/__init__.py` imports it."""
    tree = ast.parse((ROOT / "normgeo" / "__init__.py").read_text("utf-8"))
    imported = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imported for alias in node.names}


def write_api() -> None:
    """Write one page for each package: its public names, and nothing that could go stale."""
    API.mkdir(exist_ok=True)
    where = homes()
    pages = []
    for package, title in PACKAGES.items():
        inside = f"normgeo.{package}"
        names = [n for n in normgeo.__all__ if where[n].startswith(f"{inside}.")]
        if not names:
            continue
        pages.append(package)
        lines = [title, "=" * len(title), "", str(import_module(inside).__doc__), ""]
        for name in names:
            found = getattr(normgeo, name)
            if isinstance(found, type):
                lines += [f".. autoclass:: {where[name]}.{name}", "   :members:", ""]
            elif callable(found):
                lines += [f".. autofunction:: {where[name]}.{name}", ""]
            else:
                keys = ", ".join(f"``{key}``" for key in found)
                lines += [f".. py:data:: {where[name]}.{name}", "", f"   By key: {keys}.", ""]
        (API / f"{package}.rst").write_text("\n".join(lines), "utf-8")
    placed = {n for n in normgeo.__all__ if where[n].split(".")[1] in PACKAGES}
    if missing := set(normgeo.__all__) - placed:
        raise ValueError(f"No page of the API reference has {sorted(missing)}.")
    contents = ["API reference", "=" * 13, "", "Every name of ``normgeo.__all__``, by package.", ""]
    contents += [".. toctree::", "", *(f"   {page}" for page in pages), ""]
    (API / "index.rst").write_text("\n".join(contents), "utf-8")


def as_restructured(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Show formulas as they are: an indented paragraph literally, a bar or a star as itself."""
    shown: list[str] = []
    in_section = False
    for i, line in enumerate(lines):
        stripped = line.strip()
        indented = line.startswith("    ")
        if stripped.endswith(":") and not indented and stripped[:-1] in SECTIONS:
            in_section = True
        elif stripped and not line.startswith(" "):
            in_section = False
        begins = indented and not in_section and i > 0 and not lines[i - 1].strip()
        if begins and not stripped.startswith(">>>"):
            shown += ["::", ""]
        literal = (indented and not in_section) or stripped.startswith((">>>", "..."))
        shown.append(line if literal else line.replace("|", "\\|").replace("*", "\\*"))
    lines[:] = shown


def write_story(app: Any, exception: Exception | None) -> None:
    """Write the story in its languages, and a gallery of all figures, beside the pages."""
    if exception is not None or app.builder.name != "html":
        return
    settings, folder = Settings(), Path(app.outdir)
    drawn = figures(settings)
    for language in LANGUAGES:
        (folder / f"story-{language}.html").write_text(
            page(story(language), settings, drawn), "utf-8"
        )
    shown = {name: one for name, one in PICTURES.items() if not one.study.begins}
    parts = [drawn.get(name) or figure(one, settings) for name, one in shown.items()]
    (folder / "gallery.html").write_text(gallery(parts, map(address, shown)), "utf-8")


def address(picture: str) -> str:
    """The address at which a figure is alone."""
    place = PAGE_OF[picture]
    tabs = getattr(import_module(f"normgeo.ui.{place}"), "TABS", ())
    tab = f"&tab={picture}" if picture in tabs else ""
    return f"https://your.server/{'' if place == 'home' else place}?embed=true{tab}"


SECTIONS = {"Args", "Attributes", "Returns", "Raises", "Yields"}


def setup(app: Any) -> None:
    """Join Sphinx."""
    write_api()
    app.connect("build-finished", write_story)
    app.connect("autodoc-process-docstring", as_restructured, priority=100)
