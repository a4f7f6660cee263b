"""What is said of each experiment beside its numbers, and what its methods are called."""

from __future__ import annotations

from typing import NamedTuple

from normgeo.base.text import text
from normgeo.experiments.results import BATCH, EVERYWHERE, METHODS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer


class About(NamedTuple):
    """An experiment in words.

    Attributes:
        title: in two or three words.
        kept, changed: what is as in the original, and what is not.

    """

    title: str
    kept: str
    changed: str


ABOUT = {
    "order": About(
        text("Captions"),
        text(
            "As in the original: a GRU reads a caption, a linear map reads its picture, both "
            "vectors are non-negative and of unit norm, the score has an order, the loss is "
            "contrastive with a margin of 0.05, and a picture has five captions."
        ),
        text(
            "Changed: pictures of four handwritten digits and not photographs of MSCOCO as a "
            "deep network sees them, captions made by a program, fewer neurons, a shorter "
            "training."
        ),
    ),
    "reader": About(
        text("Reader"),
        text(
            "As in the original: cloze questions with hidden names, which are numbered anew each "
            "time; an LSTM from each end of the document and of the query, attention on the "
            "document; batch norm of the LSTMs or of the attention too, with gains that begin at "
            "0.1."
        ),
        text(
            "Changed: documentation and not news, 32 words of it around 8 that ask; questions "
            "alone whose answer stands in the document beside a word that the query tells; 16 "
            "neurons and not hundreds; a name has the attention of its places, and no further "
            "layer decides."
        ),
    ),
    "skip_thoughts": About(
        text("Skip-thoughts"),
        text(
            "As in the original: a GRU reads a sentence, two GRUs write the sentence before and "
            "the one after, each step given the vector of the sentence; the vectors are then "
            "frozen, and a linear classifier tells what a sentence is about."
        ),
        text(
            "Changed: documentation and not 11,000 books, 12 words of a sentence, the 500 most "
            "frequent words, 40 neurons and not 2,400; topics of held-out files and not the five "
            "tasks of the paper; minutes and not weeks."
        ),
    ),
    "draw": About(
        text("DRAW"),
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
        text("Handwriting"),
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
    "mnist": About(
        text("Digits"),
        text(
            "As in the original: a fully connected ReLU network, normalized in all layers but the "
            "last, batches of 4 and of 128."
        ),
        text(
            "Changed: digits of 8 × 8 pixels and not of 28 × 28, layers of 128 neurons and not of "
            "1,000, a shorter training. Held-out digits meet the statistics of all digits that "
            "batch norm has learned from."
        ),
    ),
    "convolution": About(
        text("Convolution"),
        text(
            "As in the original: convolutions with layer norm over all units of a layer, with "
            "batch norm over cases and places, or without a norm."
        ),
        text(
            "Changed: the paper names neither its data nor its sizes. Here two convolutions, of 8 "
            "and of 16 channels, read digits of 8 × 8 pixels. The paper explains its finding with "
            "units near the border of a picture, which are rarely on."
        ),
    ),
}
"""By the name of the experiment, in the order of the paper."""

NAMES = dict(
    zip(
        METHODS,
        (
            text("without a norm"),
            text("with batch norm"),
            text("with batch norm everywhere"),
            text("with layer norm"),
        ),
        strict=True,
    )
)
"""The methods of the experiments, in words."""

KINDS = {EVERYWHERE: BATCH}
"""Methods that normalize as another does, but in more places: they share its color."""


def normalizer_of(method: str) -> Normalizer:
    """Return the normalizer of a method."""
    return NORMALIZERS.get(KINDS.get(method, method), NORMALIZERS["standard"])
