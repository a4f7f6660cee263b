"""What scripts in plain NumPy of several pictures share: data and weights, numbers as on a page."""

from __future__ import annotations

from collections.abc import Iterable

from normgeo.settings import Settings

WIDTH = 80
"""Characters of a line that is read beside a page."""


def imports(*lines: str, settings: bool = True) -> str:
    """Return the lines that import NumPy, more that `lines` name, and the settings if asked to.

    >>> print(imports("from normgeo.pictures.model_on_data import model_on_data"))
    import numpy as np
    <BLANKLINE>
    from normgeo.pictures.model_on_data import model_on_data
    from normgeo.settings import Settings
    <BLANKLINE>

    """
    own = "\n".join((*lines, *(("from normgeo.settings import Settings",) if settings else ())))
    return f"import numpy as np\n\n{own}\n"


def chosen(settings: Settings, names: Iterable[str]) -> str:
    """Return a line that makes the settings with these names, or several where it is long.

    >>> print(chosen(Settings(dataset="iris"), ("dataset", "seed")))
    settings = Settings(dataset="iris")

    """
    used = {key: value for key, value in settings.to_recipe().items() if key in set(names)}
    values = [f"{name}={_written(value)}" for name, value in used.items()]
    line = f"settings = Settings({', '.join(values)})"
    if len(line) <= WIDTH:
        return line
    return "\n".join(("settings = Settings(", *(f"    {value}," for value in values), ")"))


def number_of(digits: int) -> str:
    """Return a function that writes numbers as pages do, in lines.

    >>> exec(number_of(2)); number(1284.0), number(0.0512)
    ('1,300', '0.051')

    """
    return (
        f"def number(x, digits={digits}):  # as on the page\n"
        "    return f\"{float(f'{x:.{digits}g}'):,.15g}\"\n\n"
    )


def _written(value: object) -> str:
    """A value in Python, words in the quotes of this house."""
    return f'"{value}"' if isinstance(value, str) else repr(value)
