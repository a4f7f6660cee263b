"""What is said of each experiment beside its numbers, and what its methods are called."""

from __future__ import annotations

from typing import NamedTuple

from normgeo.base.text import text
from normgeo.experiments.results import METHODS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer


class About(NamedTuple):
    """An experiment in words.

    Attributes:
        title: in two or three words. section: of the paper.
        kept, changed: what is as in the original, and what is not.

    """

    title: str
    section: str
    kept: str
    changed: str


ABOUT = {
    "reader": About(
        text("A reader is asked for a name"),
        text("section 6.2"),
        text(
            "As in the original: cloze questions with hidden names, which are numbered anew each "
            "time; an LSTM from each end of the document and of the query, attention on the "
            "document; batch norm with gains that begin at 0.1."
        ),
        text(
            "Changed: documentation and not news, 32 words of it; 16 neurons and not hundreds; a "
            "name has the attention of its places, and no further layer decides; no network "
            "normalizes the attention."
        ),
    ),
    "draw": About(
        text("DRAW paints digits"),
        text("section 6.4"),
        text(
            "As in the original: an encoder and a decoder LSTM, attention that reads and "
            "writes by a grid of Gaussians, a latent z at each step, the variational bound."
        ),
        text(
            "Changed: digits of 8 × 8 pixels and not of 28 × 28, fewer units, a shorter "
            "training. So the attention has little to choose from."
        ),
    ),
    "handwriting": About(
        text("A network writes by hand"),
        text("section 6.5"),
        text(
            "As in the original: an LSTM that reads the pen and a window on the text, a "
            "mixture of Gaussians for the next offset of the pen, sequences of over 500 "
            "steps, batches of 8."
        ),
        text(
            "Changed: the letters are made by a program, with noise, and are not those of "
            "221 people; one layer of fewer units, a shorter training."
        ),
    ),
}
"""By the name of the experiment, in the order of the paper."""

NAMES = dict(
    zip(
        METHODS,
        (text("without a norm"), text("with batch norm"), text("with layer norm")),
        strict=True,
    )
)
"""The methods of the experiments, in words."""

IN_WORDS = dict(
    zip(METHODS, (text("no norm"), text("batch norm"), text("layer norm")), strict=True)
)
"""The same, as subjects of sentences."""


def normalizer_of(method: str) -> Normalizer:
    """Return the normalizer of a method."""
    return NORMALIZERS.get(method, NORMALIZERS["standard"])
