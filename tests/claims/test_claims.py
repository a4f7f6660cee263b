"""The claims: their verdicts, that each depends on its computation, and their sentences."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import normgeo.dynamics.exponential_schedule
import normgeo.models.jacobian_norms
import normgeo.normalizers.batch_statistics
from normgeo import GRID, NORMALIZERS, Normalizer, Trajectory
from normgeo.base.progress import Stop
from normgeo.base.refusal import Failure, Refusal
from normgeo.claims import (
    CLAIMS,
    DEPENDS,
    EXAMPLES,
    FAILS,
    FOLLOWS,
    HOLDS,
    HOLDS_IF,
    KINDS,
    PAPER_SAYS,
    PARTS,
    VERDICTS,
    Audited,
    Claim,
    Example,
    Finding,
    Measured,
    audit,
    blocks,
    decay,
    equilibrium,
    geometry,
    invariance,
    learning,
    limits,
    magnitude,
    practice,
    symmetry,
)
from normgeo.claims.claim import number, numbers, plain, shared, sharing
from normgeo.claims.depth import images
from normgeo.claims.table_1 import PAPER_TABLE_1
from normgeo.claims.trained import networks, sequences, tried_small
from normgeo.dynamics.gradient_descent import GradientDescent, Momentum
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.training import History
from normgeo.experiments import results
from normgeo.experiments.results import Result
from normgeo.fisher.gain_metric import PRINTED
from normgeo.models.families import FAMILIES, Bernoulli, Categorical, Poisson
from normgeo.models.linearization import ModelLinearization
from normgeo.networks.blocks import PLACES
from normgeo.networks.place_statistics import PlaceStatistics
from normgeo.normalizers.centers import BatchCenter, LayerCenter
from normgeo.normalizers.scales import AveragingScale, WeightScale
from normgeo.sequences.model import SequenceModel, Told
from normgeo.settings import Settings
from normgeo.ui.frame import PAGES

Patch = pytest.MonkeyPatch


def test_examples_are_of_three_seeds_and_two_sizes() -> None:
    assert len({example.seed for example in EXAMPLES}) >= 3
    for size in ("cases", "neurons", "digits", "units", "certificate"):
        assert len({getattr(example, size) for example in EXAMPLES}) >= 2, size


# One mutation of the computation behind each claim; a new claim needs one as well.

MUTATIONS: list[tuple[str, Callable[[Patch], Any]]] = []


def breaks(*claims: str) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """State which claims' verdicts a mutation changes."""

    def register(mutation: Callable[[Patch], None]) -> Callable[[Patch], None]:
        MUTATIONS.extend((claim, mutation) for claim in claims)
        return mutation

    return register


def swap(patch: Patch, name: str, other: Normalizer) -> None:
    """Register another normalizer under a name."""
    patch.setitem(NORMALIZERS, name, other)


@breaks("equation_5", "transposed", "weight_matrix_recentering", "equation_6")
def layer_center_forgets_the_mean(patch: Patch) -> None:
    patch.setattr(LayerCenter, "project_neurons", lambda self, W, groups=1: W)


@breaks("dataset_recentering")
def batch_center_forgets_the_mean(patch: Patch) -> None:
    patch.setattr(BatchCenter, "project_inputs", lambda self, X: X)


@breaks(
    "weight_vector_rescaling",
    "case_rescaling",
    "two_neurons",
    "two_neurons_blind",
    "one_case",
)
def layer_norm_is_batch_norm(patch: Patch) -> None:
    swap(patch, "layer", NORMALIZERS["batch"])


@breaks("shared_by_neurons", "another_parametrization", "prediction_error")
def layer_norm_is_weight_norm(patch: Patch) -> None:
    swap(patch, "layer", NORMALIZERS["weight"])


@breaks("weight_matrix_rescaling", "rescaled_steps", "stable_recurrence")
def layer_norm_only_centers(patch: Patch) -> None:
    swap(patch, "layer", GRID["layer", "none"])


@breaks("feature_shift")
def layer_norm_centers_weight_vectors(patch: Patch) -> None:
    swap(patch, "layer", GRID["weight", "layer"])


@breaks("which_norm")
def layer_norm_does_not_center(patch: Patch) -> None:
    swap(patch, "layer", NORMALIZERS["rms"])


@breaks("equation_7", "input_scaling")
def layer_norm_has_an_epsilon(patch: Patch) -> None:
    swap(patch, "layer", replace(NORMALIZERS["layer"], eps=0.1))


@breaks("shared_by_cases", "one_case", "any_length")
def batch_norm_is_weight_norm(patch: Patch) -> None:
    swap(patch, "batch", NORMALIZERS["weight"])


@breaks("weight_scaling")
def batch_norm_only_centers(patch: Patch) -> None:
    swap(patch, "batch", GRID["batch", "none"])


@breaks("stable")
def batch_norm_is_no_norm(patch: Patch) -> None:
    swap(patch, "batch", NORMALIZERS["standard"])


@breaks("dataset_rescaling")
def weight_norm_is_batch_norm(patch: Patch) -> None:
    swap(patch, "weight", NORMALIZERS["batch"])


@breaks("statistics_follow")
def weight_norm_is_no_norm(patch: Patch) -> None:
    swap(patch, "weight", NORMALIZERS["standard"])


@breaks("two_words")
def one_cell_of_the_design_space_loses_its_scale(patch: Patch) -> None:
    patch.setitem(GRID, ("batch", "weight"), GRID["batch", "none"])


@breaks("rms")
def rms_norm_is_layer_norm(patch: Patch) -> None:
    swap(patch, "rms", NORMALIZERS["layer"])


@breaks("grow_or_shrink")
def standard_recurrence_is_layer_normalized(patch: Patch) -> None:
    swap(patch, "standard", NORMALIZERS["layer"])


@breaks("standard_no_law", "standard_input_scaling")
def standard_model_is_batch_norm(patch: Patch) -> None:
    swap(patch, "standard", NORMALIZERS["batch"])


@breaks("table_1")
def quotation_of_table_1_is_wrong(patch: Patch) -> None:
    patch.setitem(PAPER_TABLE_1["batch"], "case_rescaling", True)


@breaks(
    "table_1", "weight_matrix_rescaling", "weight_vector_rescaling", "case_rescaling", "equation_7"
)
def negative_factors_turn_nothing_over(patch: Patch) -> None:
    certify = invariance.certify
    patch.setattr(invariance, "certify", lambda *asked: replace(certify(*asked), sign_flip=False))


@breaks("input_only")
def summed_inputs_are_normalized_after_all(patch: Patch) -> None:
    patch.setattr(invariance, "_summed", lambda X, W: NORMALIZERS["layer"].normalize(W, X).z)


@breaks("epsilon")
def verdicts_forget_epsilon(patch: Patch) -> None:
    certify = limits.certify

    def without_eps(example: Example, *asked: Any, eps: Any = None) -> Any:
        return certify(example, *asked)

    patch.setattr(limits, "certify", without_eps)


@breaks("epsilon")
def data_forget_epsilon(patch: Patch) -> None:
    patch.setattr(limits, "with_eps", lambda normalizer, eps: normalizer)


@breaks("gradients_over_time")
def a_change_of_the_state_is_turned_and_no_more(patch: Patch) -> None:
    patch.setattr(
        normgeo.models.jacobian_norms,
        "jacobian",
        lambda past, t: np.eye(past.recurrence.neurons)[None].repeat(2, axis=0),
    )


@breaks("any_length")
def what_is_read_later_is_told_worse(patch: Patch) -> None:
    told = SequenceModel.told

    def backwards(*asked: Any, **how: Any) -> Told:
        answer = told(*asked, **how)
        return answer._replace(log_likelihood=answer.log_likelihood[:, ::-1])

    patch.setattr(SequenceModel, "told", backwards)


TWO_RATES = (0.03, 0.1)  # if two methods are equal, no rate makes them differ


@breaks("learns_faster", "long_sequences", "initial_gain")
def layer_norm_is_no_norm(patch: Patch) -> None:
    patch.setattr(sequences, "RATES", TWO_RATES)
    swap(patch, "layer", NORMALIZERS["standard"])


@breaks("small_batches", "faster_than_batch_norm", "robust_to_batch_size", "training_and_test")
def batch_norm_is_layer_norm(patch: Patch) -> None:
    for module in (networks, sequences):
        patch.setattr(module, "RATES", TWO_RATES)
    swap(patch, "batch", NORMALIZERS["layer"])


@breaks("frozen")
def frozen_statistics_are_current(patch: Patch) -> None:
    patch.setattr(limits, "replace", lambda normalizer, statistics: normalizer)


@breaks("training_and_test")
def networks_answer_twice_as_surely_at_test(patch: Patch) -> None:
    answer = History.natural_parameter
    patch.setattr(History, "natural_parameter", lambda run, X: 2 * answer(run, X))


@breaks("correlated_changes")
def neurons_change_each_by_itself(patch: Patch) -> None:
    changes = networks._changes

    def apart(*asked: Any) -> Any:
        return np.random.default_rng(0).permuted(changes(*asked), axis=0)

    patch.setattr(networks, "_changes", apart)


@breaks("softmax")
def softmax_is_a_logistic_function(patch: Patch) -> None:
    patch.setattr(Categorical, "_mean", lambda self, s: 1 / (1 + np.exp(-s)))


@breaks("logits")
def gains_are_learned_after_all(patch: Patch) -> None:
    descend = practice.descend

    def learned(*start: Any, affine_rate: float, **how: Any) -> Any:
        return descend(*start, **how)

    patch.setattr(practice, "descend", learned)


@breaks("equation_11")
def mean_is_a_little_off(patch: Patch) -> None:
    mean = Bernoulli._mean
    patch.setattr(Bernoulli, "_mean", lambda self, s: 1.01 * mean(self, s))


@breaks("equation_11")
def probabilities_of_counts_sum_to_more_than_one(patch: Patch) -> None:
    log_base = Poisson._log_base
    patch.setattr(Poisson, "_log_base", lambda self, y, phi: log_base(self, y, phi) + 0.01)


@breaks("equation_11", "kl_quadratic")
def variance_is_a_little_off(patch: Patch) -> None:
    variance = Bernoulli._variance
    patch.setattr(Bernoulli, "_variance", lambda self, s: 1.3 * variance(self, s))


@breaks("kl_quadratic")
def divergence_is_scaled(patch: Patch) -> None:
    kl = geometry.kl
    patch.setattr(geometry, "kl", lambda model, other, X: 2 * kl(model, other, X))


@breaks("kl_quadratic", "equation_12", "standard_metric")
def fisher_forgets_phi(patch: Patch) -> None:
    fisher = geometry.fisher

    class WithoutPhi:
        def __init__(self, model: Any, X: Any, **how: Any) -> None:
            self._F, self._phi = fisher(model, X, **how), model.phi

        def to_dense(self) -> Any:
            return self._F.to_dense() * self._phi

        def quad(self, v: Any) -> float:
            return self._F.quad(v) * self._phi

    for module in (geometry, blocks, magnitude):
        patch.setattr(module, "fisher", WithoutPhi)


@breaks("equation_9", "observed_labels")
def fisher_is_that_of_the_paper(patch: Patch) -> None:
    fisher = geometry.fisher
    patch.setattr(geometry, "fisher", lambda model, X: fisher(model, X, coupling="paper"))


@breaks("observed_labels")
def labels_of_the_data_are_those_of_the_model(patch: Patch) -> None:
    patch.setattr(geometry, "_law_of_the_data", lambda p: p)


@breaks("equation_13")
def exact_fisher_is_that_of_the_paper(patch: Patch) -> None:
    fisher = blocks.fisher
    patch.setattr(blocks, "fisher", lambda model, X: fisher(model, X, coupling="paper"))


@breaks("one_block_a_neuron")
def neurons_have_nothing_in_common(patch: Patch) -> None:
    swap(patch, "layer", NORMALIZERS["weight"])
    patch.delitem(FAMILIES, "categorical")


@breaks("null_directions", "null_dimensions")
def couplings_are_exchanged(patch: Patch) -> None:
    fisher, other = symmetry.fisher, {"exact": "paper", "paper": "exact"}
    patch.setattr(
        symmetry,
        "fisher",
        lambda model, X, coupling="exact": fisher(model, X, coupling=other[coupling]),
    )


@breaks("equation_13_singular")
def equation_13_is_the_exact_fisher(patch: Patch) -> None:
    fisher = symmetry.fisher
    patch.setattr(symmetry, "fisher", lambda model, X, coupling="exact": fisher(model, X))


@breaks("others_are_seen")
def every_change_is_said_to_matter(patch: Patch) -> None:
    certify = symmetry.certify
    patch.setattr(
        symmetry,
        "certify",
        lambda *asked: replace(certify(*asked), invariant=False),
    )


@breaks("gain_scales_curvature")
def gain_is_forgotten(patch: Patch) -> None:
    patch.setattr(ModelLinearization, "_scaled", lambda self, U: U)


@breaks("doubled_block", "doubled_vector")
def weight_scale_is_a_root_of_the_length(patch: Patch) -> None:
    variance = WeightScale.variance
    patch.setattr(WeightScale, "variance", lambda self, *args: np.sqrt(variance(self, *args)))


@breaks("curvature_halves", "doubling_table", "turn_halves")
def gradient_is_not_divided_by_sigma(patch: Patch) -> None:
    for scale in (AveragingScale, WeightScale):
        patch.setattr(scale, "adjoint", _multiplied(scale.adjoint, lambda sigma: sigma))


@breaks("turns_slower")
def gradient_is_multiplied_by_sigma(patch: Patch) -> None:
    for scale in (AveragingScale, WeightScale):
        patch.setattr(scale, "adjoint", _multiplied(scale.adjoint, np.square))


def _multiplied(adjoint: Any, factor: Callable[[Any], Any]) -> Any:
    return lambda self, U, at: adjoint(self, U * factor(at.sigma), at)


@breaks("gradient_orthogonal", "norm_grows", "growth_by_rule")
def gradient_keeps_a_radial_part(patch: Patch) -> None:
    patch.setattr(AveragingScale, "adjoint", lambda self, U, at: (U / at.sigma, None))


@breaks("early_stopping")
def effective_rate_grows_with_the_norm(patch: Patch) -> None:
    rate = property(lambda run: run.rate * run.norms**2)
    patch.setattr(Trajectory, "effective_learning_rate", rate)


@breaks("same_function")
def long_weights_learn_at_the_rate_of_short_ones(patch: Patch) -> None:
    patch.setattr(learning, "with_weights", lambda model, W: model)


@breaks("equilibrium")
def decay_settles_elsewhere(patch: Patch) -> None:
    simulate = equilibrium.simulate_balance
    patch.setattr(
        equilibrium, "simulate_balance", lambda **how: replace(simulate(**how), decay=0.12)
    )


@breaks("rotational_equilibrium")
def momentum_remembers_nothing(patch: Patch) -> None:
    def forgets(self: Momentum, *at: Any) -> Any:
        return GradientDescent().update(*at)

    patch.setattr(Momentum, "update", forgets)


@breaks("twin")
def momentum_keeps_what_gradient_descent_keeps(patch: Patch) -> None:
    patch.setattr(decay, "_kept", lambda beta, lost: 1 - lost)


@breaks("twin")
def rates_of_the_twin_do_not_grow(patch: Patch) -> None:
    patch.setattr(normgeo.dynamics.exponential_schedule, "Exponential", lambda rate, ratio: rate)


@breaks("turn_by_rule")
def momentum_forgets_the_size_of_a_gradient_after_the_first(patch: Patch) -> None:
    def update(self: Momentum, memory: Any, theta: Any, gradient: Any, rates: Any, _: Any) -> Any:
        later = gradient / np.linalg.norm(gradient) if memory[0].any() else gradient
        return -rates * later, (np.ones_like(theta),)

    patch.setattr(Momentum, "update", update)


@breaks("growth_by_rule")
def momentum_remembers_the_weights_themselves(patch: Patch) -> None:
    def update(self: Momentum, memory: Any, theta: Any, gradient: Any, rates: Any, _: Any) -> Any:
        return -rates * (gradient + 0.01 * theta), memory

    patch.setattr(Momentum, "update", update)


@breaks("turn_by_rule")
def every_optimizer_is_gradient_descent(patch: Patch) -> None:
    for key in OPTIMIZERS:
        patch.setitem(OPTIMIZERS, key, OPTIMIZERS["gradient_descent"])


@breaks("mean_row_stays")
def layer_norm_leaves_the_mean_in(patch: Patch) -> None:
    swap(patch, "layer", NORMALIZERS["rms"])


@breaks("batch_gain_metric")
def printed_batch_metric_is_the_right_one(patch: Patch) -> None:
    patch.setitem(PRINTED, ("batch", "batch"), PRINTED["layer", "layer"])


@breaks("gain_metrics")
def printed_layer_metric_is_that_of_batch_norm(patch: Patch) -> None:
    patch.setitem(PRINTED, ("layer", "layer"), PRINTED["batch", "batch"])


@breaks("batch_noise")
def batches_are_of_one_size(patch: Patch) -> None:
    patch.setattr(
        normgeo.normalizers.batch_statistics,
        "_draw",
        lambda rng, N, m, replacement: rng.choice(N, 16),
    )


@breaks("weights_of_a_block", "gain_merged", "stream_by_depth", "last_gradient")
def post_norm_is_pre_norm(patch: Patch) -> None:
    patch.setitem(PLACES, "post", PLACES["pre"])


@breaks("logits_bounded")
def queries_have_no_norm(patch: Patch) -> None:
    swap(patch, "rms", NORMALIZERS["standard"])


@breaks("border_units")
def the_border_is_the_middle(patch: Patch) -> None:
    at_border = PlaceStatistics.at_border
    patch.setattr(PlaceStatistics, "at_border", lambda self, values: at_border(self, values)[::-1])


@breaks("layer_norm_in_convolutions")
def image_norms_are_exchanged(patch: Patch) -> None:
    known = images.norms()
    swapped = {"batch": known["layer"], "layer": known["batch"]}
    patch.setattr(images, "norms", lambda: known | swapped)


@breaks("faster_than_no_norm")
def layer_norm_leaves_nothing_of_an_image(patch: Patch) -> None:
    known = images.norms()
    nothing = replace(known["layer"], eps=1e9)
    patch.setattr(images, "norms", lambda: known | {"layer": nothing})


def another_result(patch: Patch, fast: float) -> None:
    """Let the fast method of every experiment have one figure all the way: ±∞ for best or worst."""

    def load(name: str) -> Result:
        result = results.load(name)
        there = result.statement.fast
        curves = ((fast,) * len(result.steps),) * len(result.seeds)
        learned = replace(result.methods[there], validation=curves)
        return replace(result, methods={**result.methods, there: learned})

    patch.setattr(tried_small, "load", load)


@breaks(*(f"experiment_{name}" for name, word in tried_small.EXPECTED.items() if word == FAILS))
def the_fast_method_has_learned_at_once(patch: Patch) -> None:
    another_result(patch, -math.inf)


@breaks(*(f"experiment_{name}" for name, word in tried_small.EXPECTED.items() if word == HOLDS))
def the_fast_method_never_learns(patch: Patch) -> None:
    another_result(patch, math.inf)


@pytest.mark.parametrize(
    ("key", "mutation"), MUTATIONS, ids=[f"{key}-{f.__name__}" for key, f in MUTATIONS]
)
def test_mutation_changes_the_verdict(
    key: str, mutation: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    """Negative control: the verdict is computed, so changing the computation can change it."""
    mutation(monkeypatch)
    claim = CLAIMS[key]
    with sharing({}):
        assert not Audited(claim, claim.check(EXAMPLES[1])).as_expected


def test_every_claim_has_a_mutation() -> None:
    assert CLAIMS.keys() - dict(MUTATIONS).keys() == set(), (
        "Write a function that breaks what the claim is computed from, and mark it with @breaks."
    )


# Sentences.


def test_every_claim_is_a_sentence_with_a_source() -> None:
    for claim in CLAIMS.values():
        for sentence in filter(None, (claim.statement, claim.remark)):
            assert re.fullmatch(r"[A-Z0-9μσ‖z].{10,}\.", sentence), sentence
        assert re.fullmatch(r"\S.*[^.]", claim.source), claim.source
        assert bool(claim.condition) == (claim.expected == HOLDS_IF), claim.key
        for words in filter(None, (claim.condition, claim.repair)):
            assert re.fullmatch(r"[^A-Z\s].*[^.]", words), words


def test_page_of_a_claim_exists_and_its_query_has_no_problems() -> None:
    for claim in filter(lambda claim: claim.page, CLAIMS.values()):
        page, query = claim.destination
        assert page in PAGES, claim.key
        assert Settings.from_query(query)[1] == (), claim.key


def test_no_two_claims_share_a_name_or_a_statement() -> None:
    claims = [claim for part in PARTS.values() for claim in part]
    assert len(CLAIMS) == len(claims)
    assert len({claim.statement for claim in claims}) == len(claims)


def test_every_verdict_and_every_kind_occurs() -> None:
    assert {claim.expected for claim in CLAIMS.values()} == set(VERDICTS)
    assert {claim.kind for claim in CLAIMS.values()} == set(KINDS)


def test_claims_stand_in_the_order_of_the_paper_kind_by_kind() -> None:
    kinds = [claim.kind for claim in CLAIMS.values()]
    assert kinds == sorted(kinds, key=KINDS.index)
    said = [claim.source for claim in CLAIMS.values() if claim.kind == PAPER_SAYS]
    sections = [re.match(r"sections? (\d[\d.]*\d|\d)", source) for source in said]
    numbers = [found[1] for found in sections if found]
    assert len(numbers) > 40
    assert numbers == sorted(numbers), "sections of one digit each sort as words"
    equations = [key for key in CLAIMS if key.startswith("equation") and key[-1].isdigit()]
    assert equations == [f"equation_{n}" for n in (5, 6, 7, 9, 11, 12, 13)]
    assert said[0].startswith("abstract")
    assert said[-1] == "appendix"


def test_the_paper_is_the_source_of_what_it_says_only() -> None:
    paper = re.compile(r"abstract|sections? \d|appendix|the design space|symmetry")
    for claim in CLAIMS.values():
        of_paper = bool(paper.match(claim.source))
        assert of_paper == (claim.kind in {PAPER_SAYS, FOLLOWS}), claim.source
        if re.search(r"implied|together|beyond|completed|read as|contrast", claim.source):
            assert claim.kind == FOLLOWS, claim.source


def test_place_is_that_of_the_source_in_the_paper(subtests: pytest.Subtests) -> None:
    for source, place in [
        ("abstract and section 3", (0,)),
        ("section 5.2.2, Eq. 13 and 14", (5, 2, 2)),
        ("sections 1 to 3, Eq. 2 and 3", (1,)),
        ("section 5.2.2, of all methods; appendix", (5, 2, 2)),
        ("appendix", (99,)),
        ("Zhang and Sennrich 2019", (99,)),
    ]:
        with subtests.test(source=source):
            assert replace(claim(), source=source).place == place


def test_claim_refuses_a_kind_that_there_is_not() -> None:
    sentence = (
        "The kind of a claim must be one of the paper says, follows from the paper, later work "
        "says, practice; got 'rumor'."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        claim(kind="rumor")


def test_statement_of_the_paper_that_does_not_hold_has_what_repairs_it() -> None:
    wrong = [c for c in CLAIMS.values() if c.kind == PAPER_SAYS and c.expected == FAILS]
    assert 8 <= len(wrong) <= 12, "few enough to stand at the top of the page"
    assert all(each.repair for each in wrong)


# Parts.


def test_verdict_is_read_off_what_was_found(subtests: pytest.Subtests) -> None:
    for everywhere, restricted, verdict in [
        (True, True, HOLDS),
        (False, True, HOLDS_IF),
        (False, False, FAILS),
    ]:
        with subtests.test(everywhere=everywhere):
            open_statement = claim(HOLDS_IF, "it is Sunday")
            assert open_statement.verdict(Finding(everywhere, restricted, ())) == verdict


@pytest.mark.pairwise("everywhere,verdict", [(True, HOLDS), (False, FAILS)])
@pytest.mark.pairwise("repair", ["", "of less"])
def test_statement_that_says_too_much_does_not_hold(
    repair: str, everywhere: bool, verdict: str
) -> None:
    assert claim(FAILS, repair=repair).verdict(Finding(everywhere, True, ())) == verdict


@pytest.mark.parametrize("repairs", [True, False])
def test_repair_is_checked_on_every_example(repairs: bool) -> None:
    found, last = Finding(False, True, ()), Finding(False, repairs, ())
    assert Audited(claim(FAILS, repair="of less"), found, (last,)).as_expected == repairs
    assert Audited(claim(FAILS), found, (last,)).as_expected


def test_claim_has_a_repair_only_where_it_does_not_hold() -> None:
    sentence = (
        "A claim has a repair only where it 'does not hold'; 'key' is expected to be 'holds' with "
        "the repair 'of less'."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        claim(repair="of less")


def test_numbers_are_pythons_own() -> None:
    found = numbers("size", {"a": np.float32(0.5), "b": np.True_, "c": 3}, "m") + number("δ", 2)
    assert [(m.label, m.value, m.unit) for m in found] == [
        ("size, a", 0.5, "m"),
        ("size, b", True, "m"),
        ("size, c", 3.0, "m"),
        ("δ", 2.0, ""),
    ]
    assert [type(m.value) for m in found] == [float, bool, float, float]


def finding_of(value: float, holds: bool = True) -> Finding:
    return plain(holds, number("size", value) + number("it is so", holds))


def test_verdict_that_depends_on_the_example_is_none() -> None:
    one = Audited(claim(), finding_of(1), (finding_of(2, holds=False), finding_of(3)))
    assert one.verdict == DEPENDS
    assert not one.as_expected
    agreed = Audited(claim(FAILS), finding_of(1, holds=False), (finding_of(2, holds=False),))
    assert (agreed.verdict, agreed.as_expected) == (FAILS, True)


def test_range_of_a_value_is_over_all_examples() -> None:
    one = Audited(claim(), finding_of(2), (finding_of(1), finding_of(3)))
    size, so = one.finding.measured
    assert one.range(size) == (1, 3)
    assert one.range(so) is None, "a truth value has none"
    assert one.range(Measured("length", 2.0)) is None, "nobody measured it"
    rounding = Audited(claim(), finding_of(1e-16), (finding_of(3e-15),))
    assert rounding.range(rounding.finding.measured[0]) is None


def test_audit_runs_a_claim_on_every_example(monkeypatch: Patch) -> None:
    """A statement that is true on one seed only has no verdict, and the audit says so."""
    asked: list[Example] = []

    def check(example: Example) -> Finding:
        asked.append(example)
        return finding_of(example.cases, holds=example.seed == 0)

    monkeypatch.setattr(normgeo.claims, "CLAIMS", {"lucky": claim(check=check)})
    (one,) = audit()
    assert tuple(asked) == EXAMPLES
    assert (one.claim.verdict(one.finding), one.verdict) == (HOLDS, DEPENDS)
    assert not one.as_expected


def test_same_example_gives_the_same_numbers_and_another_seed_others() -> None:
    first, again, other = (Example(seed, cases=3, digits=3) for seed in (0, 0, 1))
    for numbers_of in (
        lambda e: e.X,
        lambda e: e.model("layer", "gaussian").W,
        lambda e: e.images[0],
        lambda e: e.rng().standard_normal(3),
        lambda e: e.rng(1).standard_normal(3),
    ):
        assert np.array_equal(numbers_of(first), numbers_of(again))
        assert not np.array_equal(numbers_of(first), numbers_of(other))
    assert first.rng().random() != first.rng(1).random()
    X, y = first.images
    assert len(X) == len(y) == 3


def claim(expected: str = HOLDS, condition: str = "", **values: Any) -> Claim:
    check = values.pop("check", lambda example: plain(True, number("one", 1)))
    return Claim("key", "It is so.", "here", check, expected, condition=condition, **values)


def test_claim_refuses_a_verdict_that_there_is_not() -> None:
    sentence = "The verdict of a claim must be one of holds, holds if, does not hold; got 'maybe'."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        claim("maybe")


@pytest.mark.parametrize(("expected", "condition"), [(HOLDS_IF, ""), (HOLDS, "so")])
def test_claim_has_a_condition_where_it_holds_if(expected: str, condition: str) -> None:
    sentence = (
        "A claim has a condition where it 'holds if', and only there; 'key' is expected to be "
        f"{expected!r} with the condition {condition!r}."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        claim(expected, condition)


def test_destination_is_a_page_and_its_query() -> None:
    assert claim(page="invariance?cell=a.b&columns=all").destination == (
        "invariance",
        {"cell": "a.b", "columns": "all"},
    )
    assert claim(page="home").destination == ("home", {})


def test_audit_checks_every_claim_in_turn_and_tells(monkeypatch: Patch) -> None:
    planted = {"first": claim(), "second": claim(FAILS)}
    monkeypatch.setattr(normgeo.claims, "CLAIMS", planted)
    told: list[tuple[int, int]] = []
    found = list(audit(lambda done, all: told.append((done, all))))
    assert [one.claim for one in found] == list(planted.values())
    assert [one.as_expected for one in found] == [True, False]
    assert told == [(1, 2), (2, 2)]


def test_audit_that_is_asked_to_stop_ends_with_what_it_has(monkeypatch: Patch) -> None:
    monkeypatch.setattr(normgeo.claims, "CLAIMS", {"first": claim(), "second": claim(FAILS)})

    def stop(done: int, all: int) -> None:
        raise Stop

    assert len(list(audit(stop))) == 1


def test_claims_of_one_audit_share_what_they_compute_and_no_more(monkeypatch: Patch) -> None:
    computed: list[float] = []

    @shared
    def root(number: float, *, power: int = 2) -> float:
        computed.append(number)
        return float(number ** (1 / power))

    def check(example: Example) -> Finding:
        both = root(16.0) == root(number=16.0, power=2) == 4 and root(16.0, power=4) == 2
        return plain(both, number("roots", len(computed)))

    claims = {key: claim(check=check) for key in ("first", "second")}
    monkeypatch.setattr(normgeo.claims, "CLAIMS", claims)
    assert [one.finding.everywhere for one in audit()] == [True, True]
    assert computed == [16.0] * 2
    list(audit())
    assert computed == [16.0] * 4, "another audit computes anew"
    check(EXAMPLES[0])
    check(EXAMPLES[0])
    assert computed == [16.0] * 10, "so does a check by itself"


def test_check_that_cannot_be_computed_is_named(monkeypatch: Patch) -> None:
    def check(example: Example) -> Finding:
        raise Refusal("σ must not vanish.")

    monkeypatch.setattr(normgeo.claims, "CLAIMS", {"key": claim(check=check)})
    sentence = r"^The check of 'key' could not be done: σ must not vanish\.$"
    with pytest.raises(Failure, match=sentence):
        list(audit())


def test_defect_of_a_check_is_not_taken_for_an_answer(monkeypatch: Patch) -> None:
    def check(example: Example) -> Finding:
        raise TypeError("a defect")

    monkeypatch.setattr(normgeo.claims, "CLAIMS", {"key": claim(check=check)})
    with pytest.raises(TypeError, match=r"^a defect$"):
        list(audit())
