"""What all Fisher pictures promise."""

from itertools import product

import pytest

from normgeo.base.progress import Stop
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.pictures.fisher import PICTURES as FISHER
from normgeo.settings import Settings
from tests.pairwise import loops

NAMES = [picture.name for picture in FISHER]
PLANES = ["equal_kl", "across"]
OF_STEPS = ["equal_kl", "across", "growth", "labels"]


@pytest.mark.exhaustive
def test_stopped_computation_keeps_what_it_has(subtests):
    for name in NAMES:
        with subtests.test(name=name):
            picture, settings, told = PICTURES[name], Settings(dataset="iris", method="layer"), []
            steps = 30 if name in {"equal_kl", "across", "magnitude"} else 1

            def stop(done: int, of: int, told=told, steps=steps) -> None:
                assert 0 < done <= of
                told.append(done)
                if len(told) == steps:
                    raise Stop

            part, whole = picture.compute(settings, stop), picture.compute(settings)
            assert len(told) == steps
            drawn = [len(picture.figure(part, theme).to_json()) for theme in ("light", "dark")]
            assert max(drawn) < len(picture.figure(whole, "light").to_json())
            assert len(picture.table(part).rows) < len(picture.table(whole).rows)


@pytest.mark.exhaustive
def test_progress_goes_up_to_its_end(few_frames, subtests):
    for method, name in product(["standard", "layer"], NAMES):
        with subtests.test(method=method, name=name):
            told = []
            settings = Settings(dataset="iris", method=method)
            PICTURES[name].compute(
                settings, lambda done, steps, told=told: told.append(done / steps)
            )
            assert told == sorted(told)
            if name == "eq13" and method == "standard":
                assert told == []  # there is one width only
            else:
                assert told[-1] == 1


def test_too_many_parameters_are_a_sentence(subtests):
    for name in [name for name in NAMES if name != "magnitude"]:
        with (
            subtests.test(name=name),
            pytest.raises(ValueError, match=r"up to 2,048 parameters; .* have 2,520\. Use fewer"),
        ):
            PICTURES[name].compute(Settings(neurons=40))


def test_neurons_that_there_are_not_are_a_sentence(subtests):
    for name in OF_STEPS:
        with (
            subtests.test(name=name),
            pytest.raises(ValueError, match=r"^Neurons are numbered from 0 to 3.*Choose another"),
        ):
            PICTURES[name].compute(Settings(dataset="wine", neuron=4))


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows", loops(NAMES, NORMALIZERS, of=1))
def test_every_method_has_every_picture_in_both_themes(few_frames, captions, rows, subtests):
    for name, method in rows:
        with subtests.test(name=name, method=method):
            settings = Settings(
                dataset="iris", neurons=6, method=method, eps=1e-5, statistics="frozen"
            )
            picture = PICTURES[name]
            result = picture.compute(settings)
            title = NORMALIZERS[method].title
            named = title if method != "standard" or name not in PLANES else "no norm"
            for theme in ("light", "dark"):
                words = captions(name, result, theme)
                assert name == "magnitude" or named in words
                assert "nan" not in words
            rows = picture.table(result).rows
            assert rows
            assert name == "eq13" or title in {row[0] for row in rows}


def test_standard_model_stands_beside_the_method_and_alone_if_it_is_the_method(
    few_frames, rows, subtests
):
    for name in [name for name in NAMES if name not in {"eq13", "magnitude"}]:
        with subtests.test(name=name):
            both = [row["method"] for row in rows(name, Settings(dataset="iris", method="rms"))]
            assert list(dict.fromkeys(both)) == ["standard", "RMS norm"]
            alone = rows(name, Settings(dataset="iris", method="standard", eps=0.1))
            assert {row["method"] for row in alone} == {"standard"}
