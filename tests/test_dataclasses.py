"""Results are immutable, and objects with arrays are equal only to themselves."""

from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import getmembers, isclass
from itertools import chain
from pkgutil import iter_modules

from normgeo.base.constant import Constant

PACKAGES = ("normalizers", "invariance", "models", "fisher", "null_directions", "dynamics")


def defined(package: str) -> list[type]:
    """The dataclasses of a package."""
    path = import_module(f"normgeo.{package}").__path__
    modules = [import_module(f"normgeo.{package}.{module.name}") for module in iter_modules(path)]
    members = [cls for module in modules for _, cls in getmembers(module, isclass)]
    return [cls for cls in members if is_dataclass(cls) and f"normgeo.{package}." in cls.__module__]


def test_nothing_that_was_computed_can_be_changed() -> None:
    for cls in chain.from_iterable(map(defined, PACKAGES)):
        assert cls.__dataclass_params__.frozen or issubclass(cls, Constant), cls


def test_what_holds_arrays_is_equal_to_itself_alone() -> None:
    """Arrays have no == with a truth value, so objects that contain arrays have none either."""
    for package in PACKAGES:
        found = defined(package)
        assert found, package
        for cls in found:
            holds = any("Array" in str(field.type) for field in fields(cls))
            if holds or issubclass(cls, Constant):
                assert cls.__eq__ is object.__eq__, cls
