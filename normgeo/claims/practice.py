"""Statements on use: sections 3, 3.1 and 4, on batches, tests and recurrence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from normgeo.claims.claim import HOLDS, Claim, Finding, plain
from normgeo.claims.trial import ROUNDING, SEED, gaussian_data, moved, small_model
from normgeo.memory import jacobian_norms
from normgeo.normalizers import NORMALIZERS
from normgeo.recurrent import Recurrence, run_recurrence


def _one_case() -> Finding:
    """Normalize each case by itself and all of them together."""
    X = gaussian_data()
    W = small_model("layer", "gaussian").W
    layer, batch = NORMALIZERS["layer"], NORMALIZERS["batch"]
    together = layer.normalize(W, X).z
    alone = np.vstack([layer.normalize(W, X[n : n + 1]).z for n in range(len(X))])
    halves = moved(batch.normalize(W, X).z[:20], batch.normalize(W, X[:20]).z)
    return plain(
        moved(together, alone) < ROUNDING < halves and not _accepts_one_case(),
        layer_norm_alone=moved(together, alone), batch_norm_in_half_the_batch=halves,
    )  # fmt: skip


def _accepts_one_case() -> bool:
    """Whether batch norm makes anything of a single case."""
    X = gaussian_data()
    try:
        NORMALIZERS["batch"].normalize(small_model("batch", "gaussian").W, X[:1])
    except ValueError:
        return False
    return True


def _training_and_test() -> Finding:
    """Use the statistics of 20 cases on 20 others, as at test time, and their own instead."""
    X = gaussian_data()
    W = small_model("batch", "gaussian").W
    current, frozen = NORMALIZERS["batch"], replace(NORMALIZERS["batch"], statistics="frozen")
    train, test = X[:20], X[20:]
    batch = moved(current.normalize(W, test).z, frozen.normalize(W, test, (W, train)).z)
    layer = NORMALIZERS["layer"]
    whole = layer.normalize(W, X).z[20:]
    return plain(
        moved(whole, layer.normalize(W, test).z) < ROUNDING < batch,
        batch_norm=batch, layer_norm=moved(whole, layer.normalize(W, test).z),
    )  # fmt: skip


def _recurrence(method: str) -> Recurrence:
    rng = np.random.default_rng(SEED)
    return Recurrence.random(
        NORMALIZERS[method], 20, 3, rng, spectral_radius=1.5, activation="identity"
    )


def _rescaled_steps() -> Finding:
    """Multiply all summed inputs of every step by a factor of its own."""
    rng = np.random.default_rng(SEED)
    X, factors = rng.standard_normal((2, 30, 3)), rng.uniform(0.1, 10, 30)
    changes = {}
    for method in ("layer", "standard"):
        runs = [run_recurrence(_recurrence(method), X, factors=f) for f in (None, factors)]
        changes[method] = moved(*(run.hidden for run in runs))
    return plain(changes["layer"] < ROUNDING < changes["standard"], **changes)


def _stable_hidden_states() -> Finding:
    """Run 200 steps at spectral radius 1.5, and compare how much the states and ∂h grow."""
    X = np.random.default_rng(SEED).standard_normal((2, 200, 3))
    growth, memory = {}, {}
    for method in ("layer", "standard"):
        run = run_recurrence(_recurrence(method), X)
        growth[method] = float(np.log10(run.rms_hidden[-1] / run.rms_hidden[1]).max())
        memory[method] = float(jacobian_norms(run).log10_norms[0].max())
    return plain(
        abs(growth["layer"]) < 1 < growth["standard"] and memory["layer"] < memory["standard"],
        **{f"decades of growth, {name}": value for name, value in growth.items()},
        **{f"log10 of dh(T)/dh(0), {name}": value for name, value in memory.items()},
    )


CLAIMS = (
    Claim(
        "one_case",
        "Layer norm treats each case by itself, so that a batch may hold a single one.",
        "section 3", _one_case, HOLDS, "batch",
        remark="Batch norm gives a case another z in another batch, and none in a batch of one.",
    ),
    Claim(
        "training_and_test",
        "Layer norm computes the same at training and at test; batch norm does not.",
        "abstract and section 3", _training_and_test, HOLDS, "batch",
    ),
    Claim(
        "rescaled_steps",
        "A layer-normalized recurrence ignores a re-scaling of all summed inputs of a step.",
        "section 3.1", _rescaled_steps, HOLDS, "recurrent",
    ),
    Claim(
        "stable_hidden_states",
        "Layer norm keeps the hidden states of a recurrence from exploding.",
        "section 3.1", _stable_hidden_states, HOLDS, "recurrent",
    ),
)  # fmt: skip
