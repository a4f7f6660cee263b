"""Every named normalizer has a color of its own, that can be seen on both papers."""

from colorsys import rgb_to_hsv
from dataclasses import replace
from itertools import combinations

import pytest

from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.shared_statistics import SHARINGS
from normgeo.pictures.style.colors import (
    BRIGHT,
    CLASSES,
    ONLY_SHARED,
    OTHER,
    PALETTE,
    contrast,
    difference,
    method_color,
    name_color,
    on_paper,
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


@pytest.fixture(params=THEMES)
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["as it is", "with new ones"])
def normalizers(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> list[Normalizer]:
    for key, normalizer in NEW.items() if request.param == "with new ones" else ():
        monkeypatch.setitem(NORMALIZERS, key, normalizer)
    return list(NORMALIZERS.values())


def test_color_of_every_method_is_seen_on_the_paper(normalizers, theme):
    least = {"light": 3, "dark": BRIGHT}[theme]
    for color in (OTHER, *CLASSES):
        assert contrast(on_paper(color, theme), THEMES[theme].paper) >= least, color
    for normalizer in normalizers:
        color = method_color(normalizer, theme)
        assert contrast(color, THEMES[theme].paper) >= least, normalizer.title


def test_dark_paper_makes_a_color_lighter_and_no_other():
    """The hue is that of the color on light paper: HSV of both, but for what the screen lacks."""
    for color in (*PALETTE, OTHER, *CLASSES, *ONLY_SHARED):
        lighter = on_paper(color, "dark")
        assert on_paper(color, "light") == color
        assert contrast(lighter, "#000000") > contrast(color, "#000000")
        turned = abs(hue(lighter) - hue(color)) % 1
        assert min(turned, 1 - turned) < 0.05, (color, lighter)


def hue(color: str) -> float:
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return rgb_to_hsv(red, green, blue)[0]


def test_every_named_method_has_a_color_of_its_own(normalizers, theme):
    colors = {normalizer.title: method_color(normalizer, theme) for normalizer in normalizers}
    for one, other in combinations([*colors.values(), on_paper(OTHER, theme)], 2):
        assert difference(one, other) > SEEN_APART, colors


def test_a_new_method_leaves_the_others_their_colors(monkeypatch, theme):
    before = {key: method_color(normalizer, theme) for key, normalizer in NORMALIZERS.items()}
    for key, normalizer in NEW.items():
        monkeypatch.setitem(NORMALIZERS, key, normalizer)
    assert {key: method_color(NORMALIZERS[key], theme) for key in before} == before


def test_a_method_keeps_its_color_in_every_state(theme):
    assert len(PALETTE) == len(NORMALIZERS)
    for (key, normalizer), shade in zip(NORMALIZERS.items(), PALETTE, strict=True):
        color = on_paper(shade, theme)
        assert method_color(normalizer, theme) == name_color(normalizer.name, theme) == color, key
        assert method_color(replace(normalizer, eps=0.1), theme) == color
        assert method_color(replace(normalizer, name=""), theme) == color, "known by its two words"
    group = NORMALIZERS["group"]
    assert method_color(replace(group, groups=3, name=""), theme) == method_color(group, theme)
    assert method_color(replace(group, groups=1), theme) == method_color(group, theme)


def test_words_without_a_name_share_a_color(theme):
    assert method_color(Normalizer("weight", "layer"), theme) == on_paper(OTHER, theme)
    assert name_color("a name that nobody has", theme) == on_paper(OTHER, theme)


def test_instance_norm_has_a_color_that_no_method_has(normalizers, theme):
    instance = name_color(SHARINGS["instance"].title, theme)
    others = [on_paper(color, theme) for color in (OTHER, *CLASSES)]
    others += [method_color(normalizer, theme) for normalizer in normalizers]
    assert min(difference(instance, other) for other in others) > SEEN_APART
    assert contrast(instance, THEMES[theme].paper) >= {"light": 3, "dark": BRIGHT}[theme]
    assert name_color(SHARINGS["group"].title, theme) == method_color(NORMALIZERS["group"], theme)


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
