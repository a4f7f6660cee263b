"""The documentation of Python, NumPy and SciPy, as it comes with them: texts and their sentences.

Other versions have other texts.
"""

from __future__ import annotations

import ast
import gc
import re
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files as package
from keyword import iskeyword
from pathlib import Path

LIBRARIES = ("numpy", "scipy")

_WORD = re.compile(
    r"(?:(?<=([`\"'*]))|(?<![`\"'*]))"
    r"(?:([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(\d+)|([^\w\s`\"'*]))"
    r"(?=([`\"'*(])?)"
)
_END = re.compile(r"(?<=[.:;?!])\s+(?=[^a-z])|\n\s*\n|\n(?=\s*[-*])")
_CODE = re.compile(r"\w\.\w{2}|_|[a-z][A-Z]")
_PUNCTUATION = 0.45  # the largest share of a sentence: more of it is no prose
_Defined = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def texts(
    wanted: Callable[[str], bool] = lambda source: True,
) -> Iterator[tuple[str, str, set[str]]]:
    """The help on topics, and what modules, classes and functions say of the names in them.

    Each with the topic or the file that it is from, its source, if that is `wanted`.
    """
    from pydoc_data.topics import topics

    yield from ((topic, text, set()) for topic, text in sorted(topics.items()) if wanted(topic))
    files = [*standard().glob("*.py")]
    for library in LIBRARIES:
        files += Path(str(package(library))).glob("**/*.py")
    for path in sorted(files):
        source = "/".join(path.parts[-3:])
        if "tests" not in path.parts and wanted(source):
            yield from ((source, said, names) for said, names in _said(path))


def part_of(source: str) -> str:
    """Return what a text tells of: Python itself, its library, or a part of NumPy or SciPy.

    "" for a file that is deeper inside of a part.
    """
    parts = source.split("/")
    if len(parts) == 1:
        return "the language"
    if parts[0] in LIBRARIES:
        return ".".join(parts[:2])
    return "Python's library" if parts[:-1] == [*standard().parts[-2:]] else ""


def standard() -> Path:
    """Return the folder of Python's library."""
    return Path(sysconfig.get_paths()["stdlib"])


def _said(path: Path) -> list[tuple[str, set[str]]]:
    """What a file says, with the names, without the garbage collector, which takes as long."""
    collects = gc.isenabled()
    gc.disable()
    try:
        nodes = _defined(ast.parse(path.read_bytes()))
        return [(said, _names_in(node)) for node in nodes if (said := ast.get_docstring(node))]
    finally:
        if collects:
            gc.enable()


def _defined(node: _Defined) -> Iterator[_Defined]:
    """A module, class or function, and those that it defines at its first level."""
    yield node
    for inner in node.body:
        if isinstance(inner, _Defined):
            yield from _defined(inner)


def _names_in(node: _Defined) -> set[str]:
    """The arguments of a function; what is defined in a class or module."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    return {each.name for each in node.body if isinstance(each, ast.ClassDef | ast.FunctionDef)}


def sentences(text: str) -> list[list[tuple[str, bool]]]:
    """Words and signs of each sentence that is prose, each with whether it is written as a name."""
    return [found for part in _END.split(text) if (found := _words(part))]


def _words(sentence: str) -> list[tuple[str, bool]]:
    """Words and signs, each with whether it is written as a name; none if this is no prose."""
    parts = _WORD.findall(sentence)
    signs = sum(1 for part in parts if part[3])
    return [_word(*part) for part in parts] if signs <= _PUNCTUATION * len(parts) else []


@cache
def _word(left: str, name: str, number: str, sign: str, right: str) -> tuple[str, bool]:
    """A word or sign between what may stand at its sides: quotes, and on the right also "("."""
    quoted = bool(left and right) and right != "("
    as_code = not iskeyword(name) and bool(_CODE.search(name) or right == "(")
    return name or number or sign, bool(name) and (quoted or as_code)
