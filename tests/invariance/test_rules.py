"""The effect of a change on a, μ and σ must explain the verdict, for every method and change."""

from itertools import product

from normgeo import GRID, NORMALIZERS, TRANSFORMS, Normalizer, certify
from normgeo.invariance.rules import Law, laws

METHODS = {
    **{"-".join(words): normalizer for words, normalizer in GRID.items()},
    "group": NORMALIZERS["group"],
    "frozen": Normalizer("batch", "batch", statistics="frozen"),
}


def test_laws_explain_the_verdict(subtests):
    for normalizer, transform in product(METHODS.values(), TRANSFORMS.values()):
        with subtests.test(normalizer=normalizer.title, transform=transform.key):
            found = laws(normalizer, transform)
            if transform.rescales:
                kept = found.mean in (Law.SCALED, Law.ABSENT) and found.scale is Law.SCALED
            else:
                kept = found.mean is Law.SHIFTED and found.scale in (Law.SAME, Law.ABSENT)
            assert (kept and not found.elsewhere) == certify(normalizer, transform).invariant


def test_summed_input_is_scaled_or_shifted_by_every_change(subtests):
    for transform in TRANSFORMS.values():
        with subtests.test(transform=transform.key):
            found = laws(NORMALIZERS["standard"], transform)
            assert found.summed_input is (Law.SCALED if transform.rescales else Law.SHIFTED)
            assert (found.mean, found.scale, found.elsewhere) == (Law.ABSENT, Law.ABSENT, False)


def test_shared_statistic_moves_what_was_not_changed():
    assert laws(NORMALIZERS["batch"], TRANSFORMS["case_rescaling"]).elsewhere
    assert laws(NORMALIZERS["layer"], TRANSFORMS["weight_vector_rescaling"]).elsewhere
    assert not laws(NORMALIZERS["weight"], TRANSFORMS["weight_vector_rescaling"]).elsewhere
