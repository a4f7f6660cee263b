"""Pin: a state of a picture that is kept, and the next one beside it."""

import re
from urllib.parse import parse_qsl, urlencode

import pytest

from normgeo.pictures import PICTURES
from normgeo.settings import SETTINGS, Settings
from normgeo.ui.teaching.pin import LONGEST, difference, label, read
from tests.pages.test_hostile_addresses import HARMLESS, HOSTILE, parts

LAYER = "turn?" + urlencode({"method": "layer", "dataset": "iris", "seed": "3", "growth": "4"})

# A longer address is refused for its length, and none holds half a character.
SHORT = [value for name, value in HOSTILE.items() if len(value) < 500 and name != "lone"]


def said(page) -> str:
    """The line that says what is pinned; "" if nothing is."""
    return next((m.value for m in page.app.markdown if m.value.startswith("**Pinned:** ")), "")


def click(page, key: str) -> None:
    page.app.button(key=key).click().run()
    assert [error.message for error in page.app.exception] == []


def ways_back(page) -> list[tuple[str, dict[str, str]]]:
    """The page and the query of each link to a pinned state."""
    links = [link.proto for link in page.app.get("page_link") if link.proto.label == "Go back"]
    return [(link.page, dict(parse_qsl(link.query_string))) for link in links]


def go_back(page) -> None:
    ((to, query),) = ways_back(page)
    page.open(to, **query)


def keys(page) -> set[str]:
    return {button.key for button in page.app.button}


def test_nothing_is_said_where_nothing_is_pinned(shown):
    page = shown("learning_rate", dataset="iris")
    assert said(page) == ""
    assert not keys(page) & {"unpin", "pin_swap", "pin_show"}
    assert ways_back(page) == []
    assert "pinned" not in page.figures
    assert not [m for m in page.app.markdown if m.value == "**Now**"]


def test_pin_keeps_the_state_and_the_next_one_is_beside_it(shown):
    page = shown("learning_rate", dataset="iris", method="layer", seed="3", growth="4", tab="twin")
    click(page, "turn_pin")
    name, _, query = page.query["pin"].partition("?")
    state = {"dataset": "iris", "method": "layer", "seed": "3", "growth": "4", "tab": "twin"}
    assert (name, dict(parse_qsl(query))) == ("turn", state)
    kept = page.figure("turn")
    page.app.selectbox(key="method").set_value("batch").run()
    assert "method" not in page.query
    pinned = page.figure("pinned")
    assert pinned["data"] == kept["data"]
    assert pinned["layout"]["meta"]["steps"]["start"] == kept["layout"]["meta"]["steps"]["start"]
    assert page.figure("turn")["data"] != kept["data"]
    assert "Iris · seed of the random weights: 3 · layer norm · ‖w‖ at the start: 4" in said(page)
    assert "Pinned → now: method layer norm → batch norm." in page.words


def test_pin_survives_another_page_and_the_way_back_is_exact(shown):
    page = shown("learning_rate", pin=LAYER)
    page.open("recurrent")
    assert page.query == {"pin": LAYER}
    assert "**Pinned:** Learning rate · " in said(page)
    assert "pinned" not in page.figures
    click(page, "pin_show")
    assert page.figures[:2] == ["recurrence", "pinned"]
    assert "Pinned → now" not in page.words
    click(page, "pin_show")
    assert "pinned" not in page.figures
    go_back(page)
    settings, problems = Settings.from_query(
        {k: v for k, v in page.query.items() if k not in ("pin", "beside")}
    )
    assert problems == ()
    assert settings == Settings(method="layer", dataset="iris", seed=3, growth=4)
    assert page.query["pin"] == LAYER
    assert page.figure("turn")["data"] == page.figure("pinned")["data"]


def test_way_back_does_not_take_over_the_defaults_of_the_page(shown):
    """The page Fisher opens with layer norm; a state with batch norm names it."""
    page = shown("fisher", dataset="iris", method="batch")
    click(page, "equal_kl_pin")
    page.open("home")
    go_back(page)
    assert page.app.selectbox(key="method").value == "batch"
    assert page.figure("equal_kl")["data"] == page.figure("pinned")["data"]


@pytest.mark.exhaustive
def test_swap_changes_places_and_unpin_ends_it(shown):
    page = shown("learning_rate", dataset="wine", pin=LAYER)
    now, then = page.figure("turn")["data"], page.figure("pinned")["data"]
    assert now != then
    click(page, "pin_swap")
    assert page.figure("turn")["data"] == then
    assert page.figure("pinned")["data"] == now
    assert page.query["growth"] == "4"
    assert page.query["pin"] == "turn?dataset=wine"
    click(page, "unpin")
    assert page.figure("turn")["data"] == then
    assert "pinned" not in page.figures
    assert "pin" not in page.query
    assert said(page) == ""


def test_reset_returns_to_the_defaults_beside_the_pinned_state(shown):
    page = shown("learning_rate", dataset="wine", pin=LAYER)
    click(page, "reset")
    assert page.query == {"pin": LAYER}
    assert "data Iris → Digits" in page.words


def test_what_differs_is_named_setting_by_setting(subtests):
    """Each setting of a picture alone, against the words of its label."""
    other = {
        "dataset": "iris", "features": "raw", "family": "gaussian", "neurons": 5, "seed": 3,
        "weights": "fitted", "ridge": 0.1, "method": "weight", "cell": "batch.dataset_rescaling",
        "center": "batch", "scale": "layer", "groups": 4, "eps": 0.1, "statistics": "frozen",
        "delta": -2.0, "index": 2, "neuron": 1, "other": 2, "entries": "log", "growth": 4.0,
        "rate": 0.5, "steps": 7, "optimizer": "adam", "decay": 0.1, "mini_batch": 9,
        "batch_size": 4, "epochs": 2, "radius": 1.2, "length": 32, "depth": 4, "activation": "tanh",
        "along": "null", "walk": 2.0, "layer": "pre_norm", "stands": "before",
        "norm": "rms", "layer_eps": 0.1, "trained_by": "adam", "place": "0.2",
        "frozen_below": 0.1, "block": 1, "network": "decoder", "tensor": 3,
        "change": "column_times",
        "task": "rows", "rnn": "gru", "sequences": 4, "first_gain": 0.1,
        "glimpse": 2, "pen": 50, "word": 2, "updates": 0,
        "example": "5" + Settings.example[1:],
    }  # fmt: skip
    for name in PICTURES:
        with subtests.test(name=name):
            pin = read(name)
            assert difference(pin, Settings(tab="twin", theme="dark"), "") == (
                "Nothing differs yet: change a setting."
            )
            for setting in PICTURES[name].uses:
                now = Settings(**{setting: other[setting]})
                told = difference(pin, now, "")
                assert re.fullmatch(r"Pinned → now: .+ → .+\.", told)
                assert str(SETTINGS[setting].label) in told
                assert told.count("→") == 2, "nothing else differs"
                assert (
                    difference(pin, now, setting) == "Nothing differs, unless a slider was moved."
                )


def test_a_pin_is_told_by_its_picture_and_what_differs_from_the_defaults():
    pin = read("effect?cell=batch.dataset_recentering&eps=0.1")
    assert label(pin) == [
        PICTURES["effect"].title, "Digits", "batch norm, dataset re-centering", "ε: 0.1"
    ]  # fmt: skip
    pin = read("walk?along=own_word")
    assert label(pin)[-1].endswith(": own_word")


def axes(layout):
    names = [name for name in layout if name.startswith(("xaxis", "yaxis"))]
    return {name: (layout[name].get("domain"), layout[name].get("range")) for name in names}


@pytest.mark.exhaustive
def test_pictures_of_other_scales_say_so(shown, subtests):
    """Angles of another model are on other axes, radii of all methods on the same."""
    for page, pin, own in [
        ("learning_rate", "turn?method=layer", True),
        ("learning_rate", "turn?seed=0", False),
        ("recurrent", "radii?method=layer", False),
        ("learning_rate", "spiral?seed=1", True),
    ]:
        with subtests.test(page=page, pin=pin, own=own):
            found = shown(page, pin=pin, tab="radii" if page == "recurrent" else "spiral")
            name = pin.partition("?")[0]
            one, two = (axes(found.figure(which)["layout"]) for which in (name, "pinned"))
            assert own == (one != two or any(range is None for _, range in one.values()))
            assert ("Each picture has scales of its own." in found.words) == own


BAD = [
    ("", "There is no picture `''` that could be pinned."),
    ("learning_rate?method=layer", "There is no picture `'learning_rate'` that"),
    ("turn?speed=3&power=2", "There is no setting `'speed'`. Nothing is pinned."),
    ("turn?method=quantum", "`method` must be one of"),
    ("turn?seed=-1", "`seed` must be a whole number from 0 to 2147483647; got `'-1'`."),
    ("turn?pin=turn", "There is no setting `'pin'`."),
    ("turn?present=1", "There is no setting `'present'`."),
    ("turn?" + "seed=1&" * (len(SETTINGS) + 1), "A pin names at most "),
    ("turn?method=" + "9" * LONGEST, "A pin has at most 2,000 characters; got 2,012."),
    (SHORT[0], "There is no picture"),
    ("turn?" + urlencode({"method": SHORT[0]}), "`method` must be one of"),
]
HOSTILE_PINS = [
    *((value, "There is no picture") for value in SHORT[1:]),
    *(("turn?" + urlencode({"method": value}), "`method` must be one of") for value in SHORT[1:]),
]


@pytest.mark.usefixtures("uncomputed")
@pytest.mark.parametrize(
    "pins",
    [
        pytest.param(BAD, id="each rule"),
        pytest.param(HOSTILE_PINS, id="others", marks=pytest.mark.exhaustive),
    ],
)
def test_bad_pin_gets_one_sentence_and_the_page(shown, pins, subtests):
    for words, reason in pins:
        with subtests.test(words=words, reason=reason):
            page = shown("recurrent", pin=words)
            (sentence,) = page.warnings
            assert sentence.startswith(reason)
            assert sentence.endswith(" Nothing is pinned.")
            kinds, around, _ = parts(sentence)
            assert kinds <= HARMLESS
            assert "evil" not in around
            assert sentence.isprintable()
            assert said(page) == ""
            click(page, "unpin")
            assert (page.warnings, page.query) == ([], {})


def test_a_word_of_a_pin_is_told_as_code(shown):
    page = shown("recurrent", pin="walk?along=red_herring")
    assert "`red_herring`" in said(page)


def test_a_state_without_a_picture_says_why_in_its_place(shown):
    """Frozen statistics of a batch of one would be no statistics; H must be a multiple of G."""
    page = shown("learning_rate", dataset="iris", pin="turn?method=group&groups=7")
    assert page.figures[0] == "turn"
    assert "pinned" not in page.figures
    (why,) = [info.value for info in page.app.info]
    assert "7" in why
    click(page, "unpin")
    assert not page.app.info


def test_nothing_hidden_is_read_through_a_pin(shown):
    page = shown("learning_rate", dataset="iris", predict="1", pin="turn?method=layer")
    assert "pinned" not in page.figures
    assert said(page).endswith("It is shown again with the answers.")
    assert keys(page).isdisjoint({"pin_swap", "pin_show", "turn_pin"})
    assert ways_back(page) == []
    assert "Pinned → now" not in page.words
    click(page, "predict_0.25")
    assert "turn_pin" not in keys(page)
    assert "pinned" not in page.figures, "it may be the answer to the next question"
    click(page, "predict_end")
    assert "pinned" in page.figures


def test_a_pin_holds_no_prediction(shown):
    page = shown("invariance", dataset="iris", predict="1", pin="effect?predict=1&dataset=wine")
    assert "pinned" not in page.figures
    click(page, "predict_end")
    assert page.figures[:2] == ["effect", "pinned"]
    click(page, "pin_swap")
    assert "predict" not in page.query


def test_a_room_sees_the_page_without_its_pin(shown):
    page = shown("learning_rate", dataset="iris", pin=LAYER, present="1")
    assert said(page) == ""
    assert "pinned" not in page.figures
    assert "turn_pin" not in keys(page)
    click(page, "present_leave")
    assert "pinned" in page.figures


@pytest.mark.exhaustive
def test_a_pinned_run_waits_for_its_button(shown, nothing_kept):
    page = shown("batch", dataset="iris", tab="network", pin="training?dataset=iris&epochs=1")
    assert "pinned" not in page.figures
    click(page, "start_pinned")
    assert "pinned" in page.figures
    assert "training" not in page.figures
