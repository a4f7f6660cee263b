"""Settings survive a URL and a recipe, and every bad value is named in the error."""

import json
import re
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normgeo import GRID, NORMALIZERS, TRANSFORMS, Normalizer
from normgeo.base.arguments import shown
from normgeo.base.rules import Choice, Matrix, Number, Open, Rule, Whole, Word
from normgeo.fisher.neuron_blocks import ENTRIES
from normgeo.invariance.cell import RENAMED_METHODS, Cell
from normgeo.normalizers.centers import CENTERS, NoCenter
from normgeo.normalizers.normalizer import STATISTICS
from normgeo.settings import RULES, Settings, parse_pairs


def values_of(rule: Rule) -> st.SearchStrategy[object]:
    """Values that the rule allows; a new kind of rule must define them."""
    match rule:
        case Choice():
            return st.sampled_from(rule.options)
        case Word():
            return st.from_regex(
                "[a-z0-9_]{1,40}", fullmatch=True, alphabet=st.characters(codec="ascii")
            )
        case Whole(low, high):
            return st.integers(low, high)
        case Number(low, high, nonzero):
            return st.floats(low, high).filter(lambda x: x != 0 or not nonzero)
        case Matrix(like, low, high):
            rows = [
                st.lists(st.integers(low, high), min_size=n, max_size=n).map(
                    lambda row: ".".join(map(str, row))
                )
                for n in (len(row.split(".")) for row in like.split("_"))
            ]
            return st.tuples(*rows).map("_".join)
        case Open(rule):
            return st.none() | values_of(rule)
        case Cell():
            rows = [*NORMALIZERS, *map("-".join, GRID)]
            return st.builds("{}.{}".format, st.sampled_from(rows), st.sampled_from([*TRANSFORMS]))
    raise TypeError(f"No values are known for {rule}.")


any_settings = st.fixed_dictionaries(
    {}, optional={name: values_of(rule) for name, rule in RULES.items()}
).map(lambda values: Settings(**values))


def arrived(value: object) -> str:
    """A value as shown in a complaint; no number is printed that is not a float."""
    return (value if isinstance(value, str) else shown(value))[:60]


# A bad value of every kind for every rule.
BAD = {
    Choice: ["", "no such word", 3, None, [], True],
    Word: ["", "Why", "two words", "x" * 41, "⟦", 3, None, [], True],
    Matrix: [
        "",
        "1.2.0",
        "1.1.1_1.1.1",
        "1,1",
        "1.x",
        "1.1e9",
        "1.-",
        "١.١",
        "1." + "9" * 5000,
        "100.1",
        "1_1",
        3,
        1.5,
        None,
        [],
    ],
    Whole: [
        "",
        "two",
        "1.5",
        "-1",
        "1e2",
        str(10**12),
        1.5,
        -1,
        True,
        None,
        [],
        float("nan"),
        float("inf"),
        10**400,
        10**5000,
        "9" * 5000,
    ],
    Number: [
        "",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "a lot",
        "-1e9",
        1e9,
        True,
        None,
        {},
        float("nan"),
        float("-inf"),
        -(10**400),
    ],
    Open: ["", "none", "nan", "-1", "1e400", 1e9, -1, True, {}, float("nan"), float("inf")],
    Cell: [
        "",
        ".",
        "layer",
        "layer.",
        ".case_rescaling",
        "layer.no_change",
        "nobody.case_rescaling",
        "layer-nobody.case_rescaling",
        "layer-layer-layer.case_rescaling",
        3,
        None,
    ],
}
BAD_VALUES = [(name, value) for name, rule in RULES.items() for value in BAD[type(rule)]]


@given(any_settings)
def test_a_url_keeps_the_settings(settings: Settings) -> None:
    query = settings.to_query()
    assert all(isinstance(value, str) for value in query.values())
    assert Settings.from_query(query) == (replace(settings, theme="light"), ()), (
        "a page has its own"
    )


@given(any_settings)
def test_a_recipe_keeps_the_settings(settings: Settings) -> None:
    recipe = json.loads(json.dumps(settings.to_recipe(), allow_nan=False))
    assert Settings.from_recipe(recipe) == settings


@given(any_settings)
def test_equal_settings_are_one_cache_key(settings: Settings) -> None:
    assert hash(Settings(**settings.to_recipe())) == hash(settings)


def test_defaults_leave_no_trace_in_a_url() -> None:
    assert Settings().to_query() == {}
    assert Settings(delta=3).to_query() == {}
    assert Settings(delta=0.5, dataset="iris").to_query() == {"dataset": "iris", "delta": "0.5"}


def test_a_number_may_be_left_open_or_be_zero() -> None:
    assert (
        Settings().decay is Settings(decay=None).decay is Settings.from_query({})[0].decay is None
    )
    assert Settings.from_query({"decay": "auto", "mini_batch": "auto"})[0] == Settings()
    assert Settings(decay=0).to_query() == {"decay": "0"}
    assert Settings.from_query({"decay": "0"})[0].decay == 0


def test_a_url_names_and_replaces_a_bad_value() -> None:
    for name, value in BAD_VALUES:
        settings, problems = Settings.from_query({"steps": "7", name: value})
        assert getattr(settings, name) == getattr(Settings(), name)
        assert name == "steps" or settings.steps == 7
        (problem,) = problems
        default = getattr(Settings(), name)
        assert problem == (
            f"`{name}` must be {RULES[name].sentence}; got {arrived(value)!r}. "
            f"The default, {'auto' if default is None else default}, is used instead."
        )


def test_a_recipe_refuses_a_bad_value() -> None:
    for name, value in BAD_VALUES:
        sentence = f"`{name}` must be {RULES[name].sentence}; got {arrived(value)!r}."
        with pytest.raises(ValueError, match="^" + re.escape(sentence) + "$"):
            Settings.from_recipe({name: value})
        with pytest.raises(ValueError, match="^" + re.escape(sentence) + "$"):
            Settings(**{name: value})


def test_an_unknown_name_is_named() -> None:
    settings, problems = Settings.from_query({"detla": "3", "seed": "1"})
    assert settings == Settings(seed=1)
    assert problems == ("There is no setting 'detla'. It was left out.",)


def test_a_recipe_names_everything_that_is_wrong_at_once() -> None:
    with pytest.raises(
        ValueError,
        match=re.escape(
            "There is no setting 'detla'. `eps` must be a number from 0 to 1; got '-1'."
        )
        + "$",
    ):
        Settings.from_recipe({"detla": 3, "eps": -1, "seed": 1})


@given(st.dictionaries(st.sampled_from([*RULES, "other"]), st.text(max_size=80)))
def test_whatever_a_url_says_there_are_settings(query: dict[str, str]) -> None:
    settings, problems = Settings.from_query(query)
    assert len(problems) <= len(query)
    assert Settings.from_query(settings.to_query()) == (settings, ())


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().delta = 2  # type: ignore[misc]


def test_old_names_of_methods_keep_working(subtests: pytest.Subtests) -> None:
    for old, new in RENAMED_METHODS.items():
        with subtests.test(old=old):
            assert old not in NORMALIZERS
            wanted = Settings(method=new, cell=f"{new}.case_rescaling")
            query = {"method": old, "cell": f"{old}.case_rescaling"}
            assert Settings.from_query(query) == (wanted, ())
            assert Settings.from_recipe(query) == Settings(**query) == wanted
            assert wanted.to_query() == {"method": new, "cell": f"{new}.case_rescaling"}
            with pytest.raises(ValueError, match="must be one of"):
                Settings(method=f"{old}_")


def test_words_that_belong_elsewhere_are_all_offered() -> None:
    assert RULES["statistics"].options == STATISTICS
    assert RULES["entries"].options == ENTRIES


def test_new_statistic_is_offered_with_its_own_title(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CENTERS, "total", NoCenter())
    assert Settings(center="total").center == "total"
    assert RULES["center"].title("total") == NoCenter.title
    assert RULES["center"].title("layer") == CENTERS["layer"].title


def test_pairs_are_split_at_the_first_equals_sign() -> None:
    assert parse_pairs(["dataset=iris", "cell=a=b"]) == {"dataset": "iris", "cell": "a=b"}
    with pytest.raises(ValueError, match=r"^A setting is written name=value; got 'iris'\.$"):
        parse_pairs(["iris"])


# The names in settings exist.


def test_the_selected_cell_is_a_name_or_two_words() -> None:
    change = TRANSFORMS["case_rescaling"]
    named = Settings(cell="layer.case_rescaling", eps=0.5)
    assert named.selected == (Normalizer("layer", "layer", eps=0.5), change)
    assert Settings(cell="layer-layer.case_rescaling", eps=0.5).selected == named.selected


def test_groups_reach_only_the_methods_that_have_groups() -> None:
    assert Settings(method="group", groups=5).normalizer.groups == 5
    assert Settings(method="layer", groups=5).normalizer.groups == 1


def test_frozen_statistics_reach_only_batch_statistics() -> None:
    assert Settings(method="batch", statistics="frozen").normalizer.statistics == "frozen"
    assert Settings(method="layer", statistics="frozen").normalizer.statistics == "current"


@given(any_settings)
def test_all_settings_name_normalizers(settings: Settings) -> None:
    for normalizer in (settings.normalizer, settings.selected[0], settings.own_normalizer):
        assert normalizer.eps == settings.eps
