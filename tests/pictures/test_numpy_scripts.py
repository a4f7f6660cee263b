"""The scripts in plain NumPy print the numbers on the screen to their last digit.

A script runs in a namespace of its own; what it prints is compared with the words of the figure.
"""

import contextlib
import io
import json
import re
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from normgeo.datasets.datasets import DATASETS
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.normalizers.named import GRID, NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from tests.pairwise import loops, some

# What is compared with stands in the frame that opens, in words and not in contours.
pytestmark = pytest.mark.usefixtures("few_frames")

NUMBER = re.compile(r"[−-]?(?:\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+| · 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|nan|–)")
LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def numbers(words: str) -> list[Decimal]:
    """The numbers in words, whatever signs they are written with."""
    found = (word.translate(LOWERED) for word in NUMBER.findall(words))
    return [Decimal(word.replace(",", "").replace(" · 10", "e")) for word in found]


def printed(script: str) -> list[str]:
    """What a script prints, in lines."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), np.printoptions(), np.errstate(invalid="ignore"):
        exec(script, {})
    return out.getvalue().splitlines()


def written(name: str, **chosen: object):
    """The script of a picture, its result and the words in its figure, "" for no script."""
    picture, settings = PICTURES[name], Settings(**chosen)
    result = picture.compute(settings)
    notes = picture.figure(result, "light").layout.annotations
    words = [note.text.replace("\N{NO-BREAK SPACE}", " ") for note in notes]
    script = picture.in_numpy(settings, result)
    assert all(len(line) <= 80 for line in script.splitlines())
    return script, result, words


# Home.

EXAMPLES = {
    "start": Settings.example,
    "edited": "4.-2.0_0.7.5_2.1.3_0.1.-3_2.2.1_1.6.0",
    "large": "99.-98.97_0.7.-5_2.1.93_0.91.-3_82.2.1_1.6.77",
    "small": "1.1.1_1.1.1_1.1.1_0.0.0_1.2.1_1.0.0",
}


def arrays(lines: str) -> list[np.ndarray]:
    """The arrays μ, σ and z that are printed, as they broadcast."""
    listed = re.sub(r"\s+", ",", lines.replace(",", "").replace("nan", "NaN").strip())
    return list(np.broadcast_arrays(*map(np.array, json.loads(f"[{listed}]"))))


@pytest.mark.parametrize(
    "rows",
    loops(EXAMPLES, ["0.0", "1.1", "2.1"], [-3.0, 0.25, 1.0, 4.0], of=1),
)
def test_home(rows, subtests):
    for example, place, delta in rows:
        with subtests.test(example=example, place=place, delta=delta):
            chosen = {"example": EXAMPLES[example], "place": place, "delta": delta}
            script, result, words = written("averages", **chosen)
            blocks = re.split(r".*: μ, σ, z\n", "\n".join(printed(script)))[1:]
            lasts = [word.rpartition("<b>")[2].replace("<br>", " ") for word in words]
            lasts = [word for word in lasts if word.startswith(("z = ", "σ = 0"))]
            numbers_shown = result.steps[result.opening].numbers
            assert len(blocks) == len(lasts) == len(numbers_shown) == 3
            n, h = map(int, place.split("."))
            for block, last, worked in zip(blocks, lasts, numbers_shown.values(), strict=True):
                mu, sigma, z = (M[n, h] for M in arrays(block))
                assert f"{mu:g}" == f"{float(f'{float(worked.mu):.3g}'):g}"
                assert f"{sigma:g}" == f"{float(f'{float(worked.variance) ** 0.5:.3g}'):g}"
                if "no z" in last:
                    assert np.isnan(z)
                else:
                    assert [Decimal(str(float(z)))] == numbers(last.rpartition("= ")[2])


# Invariance.

PAIRS = ["-".join(pair) for pair, method in GRID.items() if not method.name]


def words_of_effect(words: list[str], title: str) -> tuple[str, str]:
    """What the figure says of a method: how far z moves; and the statistics that it has."""
    place = [i for i, word in enumerate(words) if word.startswith(f"<b>{title}")][-1]
    moves, _, statistics = words[place + 2].partition("<br>")
    return moves, statistics.partition(": ")[2]


def check_effect(**chosen: object) -> bool:
    """Whether there is a script; what it prints is what stands in the figure."""
    script, result, words = written("effect", **chosen)
    if not script:
        return False
    title = result.effect.methods[result.chosen].normalizer.title
    moves, statistics = words_of_effect(words, title)
    said, *both = printed(script)
    mu, sigma = (numbers(line)[1:] for line in both)
    assert (said == moves) if "stays" in moves else (numbers(said) == numbers(moves))
    # A figure leaves out a μ of 0 and a σ of 1 that are no statistics of the data.
    named = re.findall("[μσ‖]", statistics)
    shown = numbers(re.sub("stays ([^,]+)", r"\1 → \1", statistics))
    has_mu, has_sigma = "μ" in named, bool({"σ", "‖"} & {*named})
    assert mu * has_mu + sigma * has_sigma == shown
    assert has_mu or mu == [0, 0]
    assert has_sigma or sigma == [1, 1]
    return True


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows", loops(TRANSFORMS, NORMALIZERS, of=1))
def test_effect_of_every_method_and_change(rows, subtests):
    for transform, method in rows:
        with subtests.test(transform=transform, method=method):
            assert check_effect(cell=f"{method}.{transform}", dataset="wine", neurons=6, delta=-2.5)


CHANGES = "weight_vector_rescaling", "case_offsets"


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows", some([*product(CHANGES, [*NORMALIZERS, *PAIRS])], 7))
def test_effect_with_eps_frozen_and_in_groups(rows, subtests):
    for transform, method in rows:
        with subtests.test(transform=transform, method=method):
            cell = f"{method}.{transform}"
            assert check_effect(cell=cell, dataset="iris", eps=0.01, index=1, seed=3)
            frozen = {"statistics": "frozen", "delta": 0.3, "neurons": 6, "groups": 3}
            assert check_effect(cell=cell, dataset="iris", **frozen)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "rows",
    loops(
        DATASETS,
        ["batch.case_recentering", "layer.weight_vector_rescaling"],
        ["raw", "standardized"],
        of=1,
    ),
)
def test_effect_on_every_data_set(rows, subtests):
    for dataset, cell, features in rows:
        with subtests.test(dataset=dataset, cell=cell, features=features):
            assert check_effect(cell=cell, dataset=dataset, features=features)


@pytest.mark.exhaustive
def test_effect_of_fitted_weights(subtests):
    for cell in ["own.weight_vector_rescaling", "weight.dataset_recentering"]:
        with subtests.test(cell=cell):
            chosen = {"weights": "fitted", "ridge": 0.1, "center": "weight", "scale": "batch"}
            assert check_effect(cell=cell, dataset="wine", **chosen)


# Learning rate.

FRACTIONS = {"½": "1/2", "¼": "1/4", "⅛": "1/8"}


def tile(words: list[str], quantity: str) -> list[Decimal]:
    """What the figure says of a quantity: before, after, and the factor between."""
    (found,) = [word for word in words if f"</span>  {quantity}" in word]
    factor, moved = found.split("</b>")[0], found.rpartition('px">')[2].partition(", predicted")[0]
    factor = FRACTIONS.get(factor.rpartition(" ")[2], factor.rpartition(" ")[2])
    if "/" in factor:
        factor = f"{float(Fraction(factor)):.3g}"
    return numbers(f"{moved} {factor}".replace("</span>", ""))


TURNS = [
    *({"method": method, "dataset": "wine", "neurons": 6} for method in NORMALIZERS),
    *({"method": method, "dataset": "iris", "eps": 0.1, "neuron": 2} for method in NORMALIZERS),
    *(
        {
            "method": method,
            "growth": 4.0,
            "seed": 2,
            "family": "bernoulli",
            "dataset": "breast_cancer",
            "neurons": 8,
        }
        for method in NORMALIZERS
    ),
    *(
        {"method": method, "dataset": "wine", "statistics": "frozen", "growth": 0.5}
        for method in ("batch", "mean_only_batch_weight")
    ),
    *(
        {"method": "group", "groups": groups, "neurons": 12, "neuron": 5, "dataset": "wine"}
        for groups in (3, 4)
    ),
    *({"method": method, "dataset": "wine", "weights": "fitted"} for method in ("rms", "standard")),
    *({"dataset": dataset} for dataset in DATASETS),
    {"dataset": "wine", "rate": 0.3, "growth": 16.0},
]


@pytest.mark.parametrize("rows", some(TURNS, 16))
def test_angular_update(rows, subtests):
    for chosen in rows:
        with subtests.test(chosen=chosen):
            script, _, words = written("turn", **chosen)
            gradient, turn, tangent, *loss = map(numbers, printed(script))
            assert gradient == tile(words, "gradient ‖G‖")
            assert tangent == tile(words, "turn, tan θ")
            assert f"{turn[1]}°" in " ".join(words)
            # A Poisson family has the logarithm of y!, which is no short line of NumPy.
            assert loss == ([] if "reversed" in str(chosen) else [tile(words, "loss")])


@pytest.mark.exhaustive
@pytest.mark.parametrize("optimizer", ["momentum", "adam", "lion"])
def test_angular_update_of_other_optimizers(optimizer):
    script, result, _ = written("turn", dataset="wine", optimizer=optimizer)
    pushed, turn, tangent, _ = map(numbers, printed(script))
    _, step, angle, _ = result.changes(result.opening)
    assert [float(one) for one in pushed[:2]] == pytest.approx([step.before, step.after], rel=6e-3)
    assert [float(one) for one in turn] == pytest.approx([angle.before, angle.after], rel=6e-3)
    assert float(tangent[-1]) == pytest.approx(angle.factor, rel=6e-3)
    assert written("turn", dataset="wine", optimizer="adam", method="layer")[0] == ""


# Fisher.

DOUBLED = [
    *({"method": method, "dataset": "wine", "neurons": 6} for method in NORMALIZERS),
    *({"method": method, "dataset": "iris", "eps": 0.1, "neuron": 2} for method in NORMALIZERS),
    *({"method": m, "dataset": "wine", "statistics": "frozen"} for m in ("batch", "layer")),
    *({"method": m, "dataset": "wine", "family": "categorical"} for m in ("batch", "standard")),
    *({"method": "weight", "dataset": dataset, "seed": 4} for dataset in DATASETS),
    {"method": "group", "groups": 3, "neurons": 12, "neuron": 5, "dataset": "wine"},
    {"method": "layer", "dataset": "wine", "weights": "fitted", "eps": 1e-6},
]


@pytest.mark.parametrize("rows", some(DOUBLED, 6))
def test_equal_kl(rows, subtests):
    for chosen in rows:
        with subtests.test(chosen=chosen):
            script, _, words = written("equal_kl", **chosen)
            shown = [re.sub("<[^>]*>", "", word) for word in words if "→ 2" in word]
            shown = [word.partition("estimate")[0].rpartition("KL = ")[2] for word in shown]
            said = [line.rpartition("KL = ")[2] for line in printed(script)]
            assert [numbers(word) for word in said] == [numbers(word) for word in shown]
            assert len(said) == (1 if chosen["method"] == "standard" else 2)


# Batch.


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "rows",
    loops(DATASETS, [1, 2, 16, 128], [(2, "auto", 0), (4, "raw", 5), (3, "standardized", 1)], of=1),
)
def test_axes(rows, subtests):
    for dataset, batch_size, (groups, features, seed) in rows:
        with subtests.test(
            dataset=dataset, batch_size=batch_size, groups=groups, features=features, seed=seed
        ):
            chosen = {
                "groups": groups,
                "features": features,
                "seed": seed,
                "batch_size": batch_size,
            }
            names = ["axes", "channels"] if dataset == "digits" else ["axes"]
            for name in names:
                script, _, words = written(name, dataset=dataset, **chosen)
                shown = [re.search("z of ○ = ([^<]+)", word) for word in words]
                said = [line.rpartition("z = ")[2] for line in printed(script)]
                expected = [numbers(found[1]) for found in shown if found]
                assert [numbers(word) for word in said] == expected
                assert expected


def test_digits_that_are_nothing_but_rounding_are_not_printed():
    """Layer norm with a tiny ε is not invariant, and z moves by the last bits."""
    chosen = {"cell": "layer.case_rescaling", "dataset": "iris", "eps": 1e-14}
    script, result, _ = written("effect", **chosen)
    assert 0 < result.effect.methods["layer"].after[result.opening].change < 1e-9
    assert script == ""


def test_a_script_runs_in_a_process_of_its_own():
    script, _, words = written("effect", cell="batch.case_rescaling", dataset="iris")
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    moves, statistics = words_of_effect(words, "batch norm")
    said, *others = done.stdout.splitlines()
    assert numbers(said) == numbers(moves)
    assert [number for line in others for number in numbers(line)[1:]] == numbers(statistics)
