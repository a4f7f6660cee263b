"""Statements on recurrent networks that learn: section 6 and the conclusion, on data that ships.

Each run is 30 steps of Adam on digits read row by row, or on the Zen of Python letter by letter; a
run's number is its training loss, the mean over its last ten steps.
"""

from __future__ import annotations

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import (
    HOLDS,
    HOLDS_IF,
    Claim,
    Finding,
    numbers,
    plain,
    shared,
)
from normgeo.claims.examples import Example, with_eps
from normgeo.normalizers.named import NORMALIZERS
from normgeo.sequences.cells import CELLS
from normgeo.sequences.model import SequenceModel
from normgeo.sequences.tasks import load_sequences
from normgeo.sequences.training import train_sequences

STEPS, LAST, RATE, EPS = 30, 10, 0.03, 1e-5
BATCH, LARGE, SMALL = 16, 32, 4
SHORT, MIDDLE, LONG = 4, 8, 16  # letters of a sequence


@shared
def _loss(
    example: Example,
    method: str,
    cell: str = "lstm",
    letters: int = 0,
    batch: int = BATCH,
    gain: float = 1.0,
) -> float:
    """Return the loss that a run comes to, on so many letters, or on the rows of digits for 0."""
    task = "letters" if letters else "rows"
    data = load_sequences(task, steps=letters or None, seed=example.seed)
    normalizer = with_eps(NORMALIZERS[method], EPS)
    sizes = example.units, data.features, data.classes
    start = SequenceModel.random(cell, normalizer, *sizes, example.rng(), gain=gain)
    run = train_sequences(
        start, data, batch_size=batch, steps=STEPS, rate=RATE, seed=example.seed, tests=0
    )
    return float(run.train_loss[-LAST:].mean())


def _gains(example: Example, cell: str, letters: int, batch: int = BATCH) -> float:
    """Return by how much less the loss is with layer norm than without."""
    without, within = (
        _loss(example, method, cell, letters, batch) for method in ("standard", "layer")
    )
    return without - within


def _faster(example: Example) -> Finding:
    """Compare the loss after as many steps: LSTM and tanh, letters and rows."""
    kinds = (("lstm", SHORT), ("lstm", LONG), ("tanh", LONG), ("lstm", 0))
    less = {kind: _gains(example, *kind) for kind in kinds}
    named = {
        text("{cell}, {read}", cell=CELLS[cell].title, read=_read(letters)): value
        for (cell, letters), value in less.items()
    }
    return Finding(
        min(less.values()) > 0,
        min(less["lstm", letters] for letters in (SHORT, LONG)) > 0,
        numbers(text("loss that layer norm saves in 30 steps"), named, text("nats")),
    )


def _read(letters: int) -> str:
    return text("{n} letters", n=letters) if letters else text("rows of digits")


def _long_sequences(example: Example) -> Finding:
    """Compare what layer norm saves on short and on long sequences, with gates and without."""
    less = {
        (cell, letters): _gains(example, cell, letters)
        for cell in ("lstm", "tanh")
        for letters in (SHORT, LONG)
    }
    more = {cell: less[cell, LONG] > max(less[cell, SHORT], 0) for cell in ("lstm", "tanh")}
    named = {
        text("{cell}, {n} letters", cell=CELLS[cell].title, n=n): value
        for (cell, n), value in less.items()
    }
    measured = numbers(text("loss that layer norm saves in 30 steps"), named, text("nats"))
    return Finding(all(more.values()), more["lstm"], measured)


def _small_batches(example: Example) -> Finding:
    """Compare what layer norm saves in large and small batches, against none and batch norm."""
    saved = {
        (other, m): _loss(example, other, letters=MIDDLE, batch=m)
        - _loss(example, "layer", letters=MIDDLE, batch=m)
        for other in ("standard", "batch")
        for m in (LARGE, SMALL)
    }
    more = {other: saved[other, SMALL] > max(saved[other, LARGE], 0) for other, _ in saved}
    named = {
        text("against {name}, m = {m}", name=NORMALIZERS[other].title, m=m): value
        for (other, m), value in saved.items()
    }
    measured = numbers(text("loss that layer norm saves in 30 steps"), named, text("nats"))
    return Finding(all(more.values()), more["batch"], measured)


def _initial_gain(example: Example) -> Finding:
    """Compare first gains of 1 and of 0.1 for layer norm and for batch norm by step."""
    losses = {
        (method, gain): _loss(example, method, gain=gain)
        for method in ("layer", "batch")
        for gain in (1.0, 0.1)
    }
    layer, batch = np.reshape([*losses.values()], (2, 2))
    named = {
        text("{name}, g = {gain:g}", name=NORMALIZERS[method].title, gain=gain): value
        for (method, gain), value in losses.items()
    }
    return plain(
        bool(layer[0] < layer[1] and batch[1] < batch[0]),
        numbers(text("loss after 30 steps"), named, text("nats")),
    )


CLAIMS = (
    Claim(
        "learns_faster",
        text("Layer norm reduces the steps that a recurrent network takes to learn."),
        text("abstract and section 7"),
        _faster,
        HOLDS_IF,
        "recurrent?tab=train",
        condition=text("the cell is an LSTM and reads letters"),
        remark=text(
            "The Zen of Python and digits row by row, batches of 16, Adam at η = 0.03. A tanh cell "
            "learns letters more slowly with layer norm; on rows of digits an LSTM gains nothing "
            "that all seeds agree on. These are steps: a step with layer norm also takes longer."
        ),
    ),
    Claim(
        "long_sequences",
        text("Recurrent networks benefit the most from layer norm on long sequences."),
        text("section 7"),
        _long_sequences,
        HOLDS_IF,
        "recurrent?tab=train",
        condition=text("the cell has gates"),
        remark=text(
            "Sequences of 4 and of 16 letters. An LSTM gains more on the longer ones; a tanh cell "
            "loses on both, and more on the longer ones."
        ),
    ),
    Claim(
        "small_batches",
        text("Recurrent networks benefit the most from layer norm in small mini-batches."),
        text("section 7"),
        _small_batches,
        HOLDS_IF,
        "recurrent?tab=train&sequences=4",
        condition=text("it is set against batch norm by time step, not against no norm"),
        remark=text(
            "An LSTM that reads 8 letters, in batches of 32 and of 4. Batch norm has the noise of "
            "small batches in its statistics, and none for a batch of one. Against no norm, layer "
            "norm gains less in small batches."
        ),
    ),
    Claim(
        "initial_gain",
        text(
            "With layer norm an LSTM learns better from gains of 1 than of 0.1; recurrent batch "
            "norm learns better from 0.1."
        ),
        text("section 6.2; Cooijmans et al. 2017, section 4"),
        _initial_gain,
        HOLDS,
        "recurrent?tab=train&task=rows&first_gain=0.1",
        remark=text("An LSTM that reads digits row by row, batches of 16, Adam at η = 0.03."),
    ),
)
