"""A default is a value as its rule leaves it: settings are made without parsing it again."""

import pytest

from normgeo.settings import SETTINGS


@pytest.mark.parametrize("name", SETTINGS)
def test_default_is_what_its_rule_makes_of_it(name):
    setting = SETTINGS[name]
    parsed = setting.rule.parse(setting.default)
    assert parsed == setting.default
    assert type(parsed) is type(setting.default)
