"""Predict, then reveal: nothing that a page hides has been sent, and a click shows it.

What a page hides cannot be told from what it sends: it sends the same where the answers are false.
"""

import re
from dataclasses import replace

import numpy as np
import pytest

from normgeo import NORMALIZERS, TRANSFORMS, certify
from normgeo.base.cache import cached
from normgeo.claims import CLAIMS, FAILS, HOLDS, Audited, Finding, checked
from normgeo.invariance.transforms import TABLE_1
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from normgeo.ui import verdict_table
from normgeo.ui.computing.task import Found
from normgeo.ui.teaching import predict_cell

CELLS = [(row, column) for row in ("batch", "layer", "weight") for column in TABLE_1]


def received(page) -> str:
    """All that the server has sent of a page; each figure has a number, a part of its hash."""
    sent = "\n".join(str(e.proto) for e in page.app.main if getattr(e, "proto", None) is not None)
    return re.sub(r'\\"id\\":\\"\d+\\"|ID-[0-9a-f]{32}', "", sent)


def dots(figure) -> list[dict]:
    """The traces of z that hold numbers."""
    return [t for t in figure["data"] if t.get("xaxis", "x") != "x" and t["x"] != [None]]


def press(page, key: str) -> None:
    page.app.button(key=key).click().run()
    assert [error.message for error in page.app.exception] == []


def labels(page) -> list[str]:
    return [b.label for b in page.app.button if re.match("predict_(?!begin|end|anew)", b.key)]


def said(page) -> str:
    return "\n".join(e.value for kind in (page.app.success, page.app.info) for e in kind)


def nothing_to_take_away(page, *kinds: str) -> bool:
    return not any(page.app.get(kind) for kind in kinds or ("download_button", "code", "tab"))


# Invariance.


@pytest.fixture
def false_verdicts(monkeypatch, nothing_kept):
    """Reverse every verdict, and change every z."""

    def begin() -> None:
        def wrong(normalizer, transform, seed=0):
            invariant = certify(normalizer, transform).invariant
            other = NORMALIZERS["weight" if invariant else "layer"]
            return certify(other, TRANSFORMS["case_rescaling"])

        def compute(settings, progress):
            found = true.compute(settings, progress)
            methods = {
                key: replace(
                    method,
                    verdict=wrong(method.normalizer, found.effect.transform),
                    after=tuple(replace(a, z=2 * a.z + 1, change=0.3) for a in method.after),
                )
                for key, method in found.effect.methods.items()
            }
            return found._replace(effect=replace(found.effect, methods=methods))

        true = PICTURES["effect"].study
        false = replace(PICTURES["effect"], study=replace(true, compute=compute))
        monkeypatch.setitem(PICTURES, "effect", false)
        for module in (verdict_table, predict_cell):
            monkeypatch.setattr(module, "verdict", cached(bytes=1e6)(wrong))
        nothing_kept.clear()

    return begin


@pytest.mark.parametrize(
    "query",
    [
        {},
        pytest.param(
            {"delta": "-2", "cell": "batch.weight_vector_rescaling"}, marks=pytest.mark.exhaustive
        ),
        pytest.param(
            {"rows": "grid", "columns": "all", "cell": "layer-batch.dataset_recentering"},
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            {"eps": "0.1", "tab": "blackboard", "dataset": "iris"}, marks=pytest.mark.exhaustive
        ),
        pytest.param({"tab": "own", "neurons": "2"}, marks=pytest.mark.exhaustive),
    ],
)
def test_page_that_hides_sends_the_same_whatever_the_answers_are(shown, false_verdicts, query):
    hidden, open_page = (
        received(shown("invariance", **query, **p)) for p in ({"predict": "1"}, {})
    )
    false_verdicts()
    assert received(shown("invariance", **query, predict="1")) == hidden
    assert received(shown("invariance", **query)) != open_page, "the control: answers differ"


def test_nothing_of_table_or_picture_is_there_before_a_prediction(shown):
    page = shown("invariance", predict="1")
    assert page.signs() == {NORMALIZERS[row].title: "?" * 6 for row in ("batch", "layer", "weight")}
    assert page.table()["marks"] == {}
    assert page.table()["legend"] == []
    figure = page.figure("effect")
    assert dots(figure) == []
    assert {s["type"] for s in figure["layout"].get("shapes", [])} <= {"rect"}
    assert nothing_to_take_away(page)
    assert "hidden until it is predicted" in received(page)
    assert figure["frames"]
    for frame in figure["frames"]:
        assert {s["type"] for s in frame["layout"].get("shapes", [])} <= {"rect"}


def test_predicted_cell_is_shown_with_its_reason_and_no_other(shown):
    page = shown("invariance", predict="1")
    press(page, "predict_✗")
    assert "You said: :material/close: no. **invariant**. **a** becomes δ a." in said(page)
    assert page.signs() == {"batch norm": "??????", "layer norm": "?????✓", "weight norm": "??????"}
    assert list(page.table()["marks"]) == ["yes"]
    words = page.captions("effect")
    assert words.count("<b>invariant</b>") == 1
    assert words.count("<b>?</b>") == 2
    assert "not invariant" not in words
    assert {t["yaxis"] for t in dots(page.figure("effect"))} == {"y3"}
    assert page.table("score") == {"words": "Score: 0 of 1"}
    assert [tab.label for tab in page.app.tabs][:2] == ["Why", "Certificate"]
    assert "Build your own" not in received(page)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "cells",
    [
        [cell for cell in CELLS if cell[1] == "case_rescaling"],
        pytest.param(CELLS, marks=pytest.mark.exhaustive),
    ],
    ids=["column", "table"],
)
def test_column_and_whole_table_can_be_predicted(shown, cells):
    """The oracle is a certificate of each cell, found anew."""
    page = shown("invariance", predict="1", dataset="iris")
    truth = {cell: certify(NORMALIZERS[cell[0]], TRANSFORMS[cell[1]]).symbol for cell in cells}
    for n, (row, column) in enumerate(cells):
        page.app.query_params["cell"] = f"{row}.{column}"
        page.app.run()
        press(page, f"predict_{truth[row, column]}")
        assert page.table("score") == {"words": f"Score: {n + 1} of {n + 1}"}
    hidden = {"?"} if len(cells) < len(CELLS) else set()
    assert set("".join(page.signs().values())) == {"✓", "✗"} | hidden
    assert nothing_to_take_away(page, "download_button"), "δ < 0 is still to be predicted"
    page.app.query_params["delta"] = "-3"
    for row in ("batch", "layer", "weight"):
        page.app.query_params["cell"] = f"{row}.case_rescaling"
        page.app.run()
        press(page, "predict_✗")
    assert page.app.get("download_button"), "nothing is hidden in this picture any more"
    assert page.figure("effect")["layout"]["meta"]["steps"]["labels"][0] == "−3"
    press(page, "predict_anew")
    assert set("".join(page.signs().values())) == {"?"}
    assert dots(page.figure("effect")) == []


@pytest.mark.exhaustive
def test_flip_and_limit_are_offered_where_they_can_be(shown):
    assert len(labels(shown("invariance", predict="1"))) == 2
    negative = shown("invariance", predict="1", delta="-2")
    assert "± its sign flips" in labels(negative)
    press(negative, "predict_±")
    assert "Right: **sign flip, δ < 0**" in said(negative)
    softened = shown("invariance", predict="1", eps="0.1")
    press(softened, "predict_≈")
    assert "Right: **invariant only at ε = 0**" in said(softened)
    # Another δ or ε is another question.
    softened.app.query_params["eps"] = "0"
    softened.app.run()
    assert softened.signs()["layer norm"] == "??????"


def faces(page) -> set[str]:
    """All signs that the table may show, for δ of either sign."""
    rows = page.table()["rows"]
    return {face["symbol"] for row in rows for cell in row["cells"] for face in cell["faces"]}


@pytest.mark.parametrize(("delta", "answer"), [("3", "✓"), ("-2", "±")])
def test_slider_gives_away_nothing_of_the_other_sign(shown, delta, answer):
    """Whether z changes its sign is a question of its own: neither table nor frames tell before."""
    page = shown("invariance", predict="1", delta=delta)
    press(page, f"predict_{answer}")
    assert faces(page) == {"?", answer}
    labels = page.figure("effect")["layout"]["meta"]["steps"]["labels"]
    assert {label.startswith("−") for label in labels} == {answer == "±"}
    whole = shown("invariance", delta=delta)
    assert faces(whole) == {"✓", "✗", "±"}
    assert len(whole.figure("effect")["layout"]["meta"]["steps"]["labels"]) > len(labels)


def test_answers_in_an_address_are_no_settings(shown):
    page = shown("invariance", predict="1", answer="yes")
    assert page.warnings == ["There is no setting `'answer'`. It was left out."]
    assert page.table()["marks"] == {}
    page = shown("invariance", predict="yes")
    assert "`predict` must be a whole number from 0 to 1; got `'yes'`." in page.warnings[0]
    assert page.table()["marks"] != {}


def test_button_hides_and_another_one_shows_and_another_page_is_not_hidden(shown):
    page = shown("invariance", dataset="iris")
    press(page, "predict_begin")
    assert page.query == {"dataset": "iris", "predict": "1"}
    assert page.table()["marks"] == {}
    press(page, "predict_end")
    assert page.query == {"dataset": "iris"}
    assert page.table()["marks"] != {}
    press(page, "predict_begin")
    page.open("learning_rate")
    assert page.query == {"dataset": "iris"}


def test_tour_does_not_tell_what_the_page_asks(shown):
    tour = {"tour": "ten-minutes", "stop": "1"}
    told = "where a method does not notice", "Layer norm averages"
    page = shown("invariance", **tour)
    page.app.button(key="tour_notice").click().run()
    assert all(words in page.words for words in told)
    page = shown("invariance", **tour, predict="1")
    assert "Which methods do not notice?" in page.words
    assert "tour_notice" not in [button.key for button in page.app.button]
    assert not any(words in received(page) for words in told)
    assert page.table()["marks"] == {}


# Learning rate.


@pytest.mark.parametrize(
    "method",
    ["batch", *(pytest.param(one, marks=pytest.mark.exhaustive) for one in ("layer", "standard"))],
)
def test_hidden_turn_sends_the_same_whatever_it_is(shown, monkeypatch, nothing_kept, method):
    query = {"dataset": "iris", "method": method, "tab": "equation"}
    hidden = received(shown("learning_rate", predict="1", **query))
    whole = received(shown("learning_rate", **query))

    def compute(settings, progress):
        found = true.compute(settings, progress)
        curve, one = found.curve, found.place(1.0)
        other = np.arange(len(curve.norms)) != one
        moved = {
            name: np.where(other, 0.7 * getattr(curve, name), getattr(curve, name))
            for name in ("angles", "gradient_norms", "loss", "radial")
        }
        return replace(found, curve=replace(curve, **moved), has_law=not found.has_law)

    true = PICTURES["turn"].study
    false = replace(PICTURES["turn"], study=replace(true, compute=compute))
    monkeypatch.setitem(PICTURES, "turn", false)
    nothing_kept.clear()
    assert received(shown("learning_rate", predict="1", **query)) == hidden
    assert received(shown("learning_rate", **query)) != whole


def test_nothing_of_the_turn_is_there_before_the_prediction(shown):
    page = shown("learning_rate", predict="1")
    assert nothing_to_take_away(page)
    assert labels(page) == ["¼", "½", "1", "2", "another one"]
    words = page.captions("turn")
    assert "θ = 20.3°" in words, "the one at norm 1, which is given"
    assert "<b>θ = ?</b>" in words
    assert "×" not in words
    assert "still to be predicted" in received(page)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_turn_is_shown_with_its_reason_once_it_is_predicted(shown, subtests):
    for method, answer in [
        ("batch", "0.25"),
        ("layer", "0.25"),
        ("weight", "0.25"),
        ("standard", "another"),
    ]:
        with subtests.test(method=method, answer=answer):
            page = shown("learning_rate", dataset="iris", method=method, predict="1")
            press(page, f"predict_{answer}")
            assert "Right: **" in said(page)
            assert ("½ × ½" in said(page) or "0.5 × ½ = 0.25" in said(page)) == (answer == "0.25")
            assert page.figures[0] == "turn"
            assert page.app.get("download_button")
            assert len(page.app.tabs) > 3
            # Another method is another question.
            page.app.query_params["method"] = "rms"
            page.app.run()
            assert labels(page)
            assert nothing_to_take_away(page)


# The paper, checked.


def test_audit_that_hides_sends_the_same_whatever_the_verdicts_are(shown, keep_audit, nothing_kept):
    keep_audit()
    asked = {"predict": "1", "verdict": "fails"}  # which must not list what fails
    hidden, whole = (received(shown("audit", **query)) for query in (asked, {}))
    nothing_kept.clear()
    false = tuple(
        Audited(claim, Finding(claim.expected == FAILS, True, ())) for claim in CLAIMS.values()
    )
    nothing_kept.keep((checked, Settings()), Found(false, stopped=False))
    assert received(shown("audit", **asked)) == hidden
    assert received(shown("audit")) != whole


def test_statements_are_asked_one_by_one(shown, keep_audit):
    first, second, *_ = keep_audit()
    page = shown("audit", predict="1", kind="all")
    assert nothing_to_take_away(page)
    assert [s.value for s in page.app.header] == [str(first.claim.statement)]
    assert not any(c.repair and str(c.repair) in received(page) for c in CLAIMS.values())
    press(page, f"predict_{FAILS}")
    assert "You said: does not hold. **It holds.**" in said(page)
    assert str(first.claim.remark) in said(page)
    press(page, "claim_next")
    assert [s.value for s in page.app.header] == [str(second.claim.statement)]
    press(page, f"predict_{HOLDS}")
    assert "Right: **It holds.**" in said(page)
    assert page.table("score") == {"words": "Score: 1 of 2"}
    press(page, "claim_back")
    press(page, "claim_back")
    assert [s.value for s in page.app.header] == [str([*CLAIMS.values()][-1].statement)]
