"""Every named normalizer has a color of its own, that can be seen on both papers."""

from dataclasses import replace
from itertools import combinations

import pytest

from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.shared_statistics import SHARINGS
from normgeo.pictures.style.colors import (
    CLASSES,
    OTHER,
    PALETTE,
    contrast,
    difference,
    method_color,
    name_color,
)
from normgeo.pictures.style.template import THEMES

SEEN_APART = 0.08  # in Oklab: four times a difference that people just notice, 0.02

NEW = {
    f"new_{center}_{scale}_{groups}": Normalizer(center, scale, groups, name=f"{center} {scale}")
    for center, scale, groups in (
        ("weight", "layer", 1),
        ("batch", "layer", 2),
        ("weight", "batch", 1),
        ("none", "batch", 1),
    )
}


@pytest.fixture(params=["as it is", "with new ones"])
def normalizers(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> list[Normalizer]:
    for key, normalizer in NEW.items() if request.param == "with new ones" else ():
        monkeypatch.setitem(NORMALIZERS, key, normalizer)
    return list(NORMALIZERS.values())


def test_color_of_every_method_is_seen_on_the_paper(normalizers, subtests):
    for theme in THEMES:
        with subtests.test(theme=theme):
            for normalizer in normalizers:
                assert contrast(method_color(normalizer), THEMES[theme].paper) >= 3, (
                    normalizer.title
                )
            assert contrast(OTHER, THEMES[theme].paper) >= 3


def test_every_named_method_has_a_color_of_its_own(normalizers):
    colors = {normalizer.title: method_color(normalizer) for normalizer in normalizers}
    for one, other in combinations([*colors.values(), OTHER], 2):
        assert difference(one, other) > SEEN_APART, colors


def test_a_new_method_leaves_the_others_their_colors(monkeypatch):
    before = {key: method_color(normalizer) for key, normalizer in NORMALIZERS.items()}
    for key, normalizer in NEW.items():
        monkeypatch.setitem(NORMALIZERS, key, normalizer)
    assert {key: method_color(NORMALIZERS[key]) for key in before} == before


def test_a_method_keeps_its_color_in_every_state():
    assert len(PALETTE) == len(NORMALIZERS)
    for (key, normalizer), color in zip(NORMALIZERS.items(), PALETTE, strict=True):
        assert method_color(normalizer) == name_color(normalizer.name) == color, key
        assert method_color(replace(normalizer, eps=0.1)) == color
        assert method_color(replace(normalizer, name="")) == color, "known by its two words"
    group = NORMALIZERS["group"]
    assert method_color(replace(group, groups=3, name="")) == method_color(group)
    assert method_color(replace(group, groups=1)) == method_color(group)


def test_words_without_a_name_share_a_color():
    assert method_color(Normalizer("weight", "layer")) == OTHER
    assert name_color("a name that nobody has") == OTHER


def test_instance_norm_has_a_color_that_no_method_has(normalizers):
    instance = name_color(SHARINGS["instance"].title)
    others = [OTHER, *CLASSES, *map(method_color, normalizers)]
    assert min(difference(instance, other) for other in others) > SEEN_APART
    assert min(contrast(instance, look.paper) for look in THEMES.values()) >= 3
    assert name_color(SHARINGS["group"].title) == method_color(NORMALIZERS["group"])


def test_contrast_is_that_of_the_standard(subtests):
    """Ratios as the web's contrast checkers print them."""
    for one, other, ratio in [
        ("#FFFFFF", "#FFFFFF", 1),
        ("#777777", "#FFFFFF", 4.48),
        ("#0000FF", "#FFFFFF", 8.59),
    ]:
        with subtests.test(one=one, other=other, ratio=ratio):
            assert contrast(one, other) == contrast(other, one) == pytest.approx(ratio, abs=0.005)


def test_difference_of_black_and_white_is_one_and_of_reds_is_small():
    assert difference("#000000", "#FFFFFF") == pytest.approx(1, abs=1e-6)
    assert difference("#D55E00", "#D65F01") < 0.01 < difference("#D55E00", "#009469")
