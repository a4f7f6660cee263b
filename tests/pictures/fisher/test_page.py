"""What all Fisher pictures promise."""

import pytest

from normgeo.base.progress import Stop
from normgeo.base.text import translated
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.pictures.fisher import PICTURES as FISHER
from normgeo.settings import Settings

NAMES = [picture.name for picture in FISHER]
OF_STEPS = ["equal_kl", "across", "growth", "labels"]


@pytest.mark.parametrize("name", NAMES)
def test_stopped_computation_keeps_what_it_has(name):
    picture, settings, told = PICTURES[name], Settings(dataset="wine", method="layer"), []
    steps = 30 if name in {"equal_kl", "across", "magnitude"} else 1

    def stop(done: int, of: int) -> None:
        assert 0 < done <= of
        told.append(done)
        if len(told) == steps:
            raise Stop

    part, whole = picture.compute(settings, stop), picture.compute(settings)
    assert len(told) == steps
    for theme in ("light", "dark"):
        drawn = picture.figure(part, theme).to_json()
        assert len(drawn) < len(picture.figure(whole, theme).to_json())
    assert len(picture.table(part).rows) < len(picture.table(whole).rows)


@pytest.mark.parametrize("method", ["standard", "layer"])
@pytest.mark.parametrize("name", NAMES)
def test_progress_goes_up_to_its_end(name, method):
    told = []
    settings = Settings(dataset="iris", method=method)
    PICTURES[name].compute(settings, lambda done, steps: told.append(done / steps))
    assert told == sorted(told)
    if name == "eq13" and method == "standard":
        assert told == []  # there is one width only
    else:
        assert told[-1] == 1


@pytest.mark.parametrize("name", [name for name in NAMES if name != "magnitude"])
def test_too_many_parameters_are_a_sentence(name):
    with pytest.raises(ValueError, match=r"up to 2,048 parameters; .* have 2,520\. Use fewer"):
        PICTURES[name].compute(Settings(neurons=40))


@pytest.mark.parametrize("name", OF_STEPS)
def test_neurons_that_there_are_not_are_a_sentence(name):
    with pytest.raises(ValueError, match=r"^Neurons are numbered from 0 to 3.*Choose another"):
        PICTURES[name].compute(Settings(dataset="wine", neuron=4))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", NORMALIZERS)
def test_every_method_has_every_picture_in_both_themes(name, method, captions):
    settings = Settings(dataset="iris", neurons=6, method=method, eps=1e-5, statistics="frozen")
    picture = PICTURES[name]
    result = picture.compute(settings)
    title = NORMALIZERS[method].title
    for theme in ("light", "dark"):
        words = captions(name, result, theme)
        assert name == "magnitude" or title in words
        assert "nan" not in words
    rows = picture.table(result).rows
    assert rows
    assert name == "eq13" or title in {row[0] for row in rows}


@pytest.mark.parametrize("name", ["fisher", "spectra", "magnitude", "eq13"])
def test_sentences_of_a_result_are_put_into_words_when_they_are_shown(name):
    result = PICTURES[name].compute(Settings())
    with translated(lambda sentence: f"¡{sentence}"):
        assert str(result.caption).startswith("¡")
        assert str(result.which).startswith("¡")
        assert all(str(note).startswith("¡") for note in result.notes)
        assert PICTURES[name].title.startswith("¡")
        assert PICTURES[name].alt.startswith("¡")
    assert "¡" not in "".join(map(str, (result.caption, result.which, *result.notes)))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"eq13", "magnitude"}])
def test_standard_model_stands_beside_the_method_and_alone_if_it_is_the_method(name, rows):
    both = [row["method"] for row in rows(name, Settings(dataset="iris", method="rms"))]
    assert list(dict.fromkeys(both)) == ["standard", "RMS norm"]
    alone = rows(name, Settings(dataset="iris", method="standard", eps=0.1))
    assert {row["method"] for row in alone} == {"standard"}
