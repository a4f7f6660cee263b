"""Defaults are already in parsed form: settings are made without parsing them again."""

from normgeo.settings import SETTINGS


def test_default_is_what_its_rule_makes_of_it():
    for name, setting in SETTINGS.items():
        parsed = setting.rule.parse(setting.default)
        assert parsed == setting.default, name
        assert type(parsed) is type(setting.default), name
