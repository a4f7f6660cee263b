"""A default is a value as its rule leaves it: settings are made without parsing it again."""

from normgeo.settings import SETTINGS


def test_default_is_what_its_rule_makes_of_it():
    for name, setting in SETTINGS.items():
        parsed = setting.rule.parse(setting.default)
        assert parsed == setting.default, name
        assert type(parsed) is type(setting.default), name
