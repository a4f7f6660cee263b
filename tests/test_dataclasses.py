"""What is computed stays as it was, and what holds arrays is equal to itself alone."""

from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import iter_modules

import pytest

from normgeo.base.constant import Constant

PACKAGES = ("normalizers", "invariance", "models", "fisher", "symmetry", "dynamics")


def defined(package: str) -> list[type]:
    """The dataclasses of a package."""
    path = import_module(f"normgeo.{package}").__path__
    modules = [import_module(f"normgeo.{package}.{module.name}") for module in iter_modules(path)]
    members = [cls for module in modules for _, cls in getmembers(module, isclass)]
    return [cls for cls in members if is_dataclass(cls) and f"normgeo.{package}." in cls.__module__]


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_that_was_computed_can_be_changed(package: str) -> None:
    for cls in defined(package):
        assert cls.__dataclass_params__.frozen or issubclass(cls, Constant), cls


@pytest.mark.parametrize("package", PACKAGES)
def test_what_holds_arrays_is_equal_to_itself_alone(package: str) -> None:
    """Arrays have no == that is true or false, so neither have those that hold them."""
    found = defined(package)
    assert found
    for cls in found:
        if issubclass(cls, Constant) or any("Array" in str(field.type) for field in fields(cls)):
            assert cls.__eq__ is object.__eq__, cls
