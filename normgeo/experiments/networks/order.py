"""Section 6.1: order embeddings, in which a caption lies below the picture that it tells of.

A GRU reads a caption word by word, its last state h embeds it; a linear map of the picture embeds
that. Both are made non-negative and of unit norm, and a caption that says less has less in it:

    f = |h|/‖h‖,   g = |W x + b|/‖W x + b‖,   s(f, g) = −‖max(0, f − g)‖²

The loss has right pairs score better by a margin α than wrong ones of the batch, mean over these:

    max(0, α + s(f_n, g_m) − s(f_n, g_n)) + max(0, α + s(f_m, g_n) − s(f_n, g_n)),   m ≠ n

Source: Vendrov, Kiros, Fidler and Urtasun, Order-embeddings of images and language, 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from normgeo.base.text import text
from normgeo.experiments.captions import EACH, LONGEST, NOTHING, Part, numbered, read, vocabulary
from normgeo.experiments.networks.cells import Tree, gru, init_gru, init_linear, linear
from normgeo.experiments.networks.compiled import Experiment
from normgeo.experiments.quadrants import SIDE, parts
from normgeo.experiments.spelling import points, spelled

NEURONS, WORD = 48, 16  # H, of both embeddings, and entries of the vector of a word
MARGIN = 0.05  # α, as in the original
AT_ONCE = 200  # captions that are ranked together, so that 5,000 of them fit into memory
SHOWN = ((0, 4), (1, 2))  # captions that move on the page: of which test picture, which of its five
CANDIDATES, BEST = 100, 5  # test pictures they are compared with there, and how many are shown
LEVELS = 15  # of the ink of a picture there
LETTERS = 40  # of a word that are kept


def init(key: jax.Array, method: str) -> Tree:
    """Return first parameters for what ships."""
    return fitting(data()[0])(key, method)


def fitting(learned: Tree) -> Callable[[jax.Array, str], Tree]:
    """Return an `init` for as many words and features as the cases to learn from have."""
    words, features = int(learned["captions"].max()) + 1, learned["images"].shape[-1]

    def of(key: jax.Array, method: str) -> Tree:
        of_words, of_cell, of_image = jax.random.split(key, 3)
        return {
            "words": jax.random.normal(of_words, (words, WORD)),
            "cell": init_gru(of_cell, NEURONS, WORD, method),
            "image": init_linear(of_image, NEURONS, features),
        }

    return of


def unit(a: jax.Array) -> jax.Array:
    """|a|/‖a‖ over the last axis."""
    return jnp.abs(a) * jax.lax.rsqrt((a * a).sum(-1, keepdims=True) + 1e-12)


def read_words(params: Tree, captions: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Embed captions (S, T) of numbers: whole ones (S, H), and after each word (T, S, H)."""

    def step(h: jax.Array, words: jax.Array) -> tuple[jax.Array, jax.Array]:
        after = gru(params["cell"], h, params["words"][words])
        h = jnp.where((words != NOTHING)[:, None], after, h)
        return h, h

    last, states = jax.lax.scan(step, jnp.zeros((len(captions), NEURONS)), captions.T)
    return unit(last), unit(states)


def look(params: Tree, images: jax.Array) -> jax.Array:
    """Embed images (N, F): (N, H)."""
    return unit(linear(params["image"], images))


def scores(captions: jax.Array, images: jax.Array) -> jax.Array:
    """Return s of embeddings (…, H) and (N, H): (…, N), at most 0."""
    return -(jnp.maximum(captions[..., None, :] - images, 0) ** 2).sum(-1)


def hinge(s: jax.Array) -> jax.Array:
    """Return the loss of scores (S, S), where those of right pairs are on the diagonal."""
    right = s.diagonal()
    wrong = jnp.maximum(MARGIN + s - right[:, None], 0) + jnp.maximum(MARGIN + s - right, 0)
    S = len(s)
    return jnp.where(jnp.eye(S, dtype=bool), 0.0, wrong).sum() / (S * (S - 1))


def loss(params: Tree, cases: Tree, key: jax.Array) -> jax.Array:
    """Return the hinge loss, with one of the captions of each picture."""
    captions = read_words(params, one_each(cases["captions"], key))[0]
    return hinge(scores(captions, look(params, cases["images"])))


def one_each(captions: jax.Array, key: jax.Array) -> jax.Array:
    """Return one of the captions (S, EACH, …) of each picture, or of their embeddings."""
    which = jax.random.randint(key, (len(captions), 1, 1), 0, EACH)
    return jnp.take_along_axis(captions, which, axis=1)[:, 0]


def rank(s: jax.Array, right: jax.Array) -> jax.Array:
    """Return the rank of number `right` among scores (N,), from 1; equals share theirs.

    Scores that are not numbers are ranked last.
    """
    worse = (s < s[right]).sum()
    equal = jnp.maximum((s == s[right]).sum() - 1, 0)
    return len(s) - worse - 0.5 * equal


def ranks(captions: jax.Array, images: jax.Array) -> jax.Array:
    """Return the rank of the right image (N, H) for embedded captions (N · EACH, H)."""
    return jax.lax.map(
        lambda one: rank(scores(one[0], images), one[1]),
        (captions, jnp.arange(len(captions)) // EACH),
        batch_size=min(AT_ONCE, len(captions)),
    )


def figures(params: Tree, cases: Tree, key: jax.Array) -> tuple[jax.Array, ...]:
    """Return the mean rank, recall@1, recall@10 and the loss."""
    captions, images = cases["captions"], look(params, cases["images"])
    read = read_words(params, captions.reshape(-1, captions.shape[-1]))[0]
    found = ranks(read, images)
    recalls = ((found <= first).mean() for first in (1, 10))
    one = one_each(read.reshape(*captions.shape[:2], -1), key)
    return found.mean(), *recalls, hinge(scores(one, images))


def data(where: str | None = None) -> tuple[Tree, Tree, Tree]:
    """Return images and numbered captions of what ships, or of a folder: see `captions.read`."""
    found = parts() if where is None else read(where)
    words = vocabulary(found[0].captions)
    longest = max(len(caption) for part in found for caption in part.captions)
    learned, validation, test = (_tree(part, words, min(longest, LONGEST)) for part in found)
    spelling = points(["", "?", *words], LETTERS)
    validation["words"] = test["words"] = spelling  # in both: so they compile once
    return learned, validation, test


def _tree(part: Part, words: list[str], longest: int) -> Tree:
    return {"images": part.images, "captions": numbered(part.captions, words, longest)}


def moving(best: dict[str, Tree], test: Tree) -> dict[str, list[Any]]:
    """Let each network read some captions, and rank the first test pictures after each word."""
    images = test["images"][:CANDIDATES]
    readings = []
    for at, kind in SHOWN:
        right = at % len(images)
        caption = np.asarray(test["captions"][right, kind])
        T = int((caption != NOTHING).sum())
        for method, params in best.items():
            states = read_words(params, jnp.asarray(caption[None, :T]))[1][:, 0]
            s = scores(states, look(params, images))
            first = np.argsort(-np.asarray(s), axis=-1, kind="stable")[:, :BEST]
            readings.append(
                {
                    "method": method,
                    "words": [spelled(test["words"][number]) for number in caption[:T]],
                    "right": right,
                    "best": first.tolist(),
                    "ranks": [float(rank(each, jnp.array(right))) for each in s],
                }
            )
    return {"captions": readings, "pictures": _pictures(np.asarray(images))}


def _pictures(images: np.ndarray[Any, Any]) -> list[str]:
    """Pictures (N, 256) from 0 to 1 as hexadecimal digits, row by row; none for other features."""
    if images.shape[1] != SIDE * SIDE:
        return []
    levels = np.rint(LEVELS * images.clip(0, 1)).astype(int)
    return ["".join(f"{level:x}" for level in picture) for picture in levels]


EXPERIMENT = Experiment(
    name="order",
    data=text(
        "Pictures of 2 × 2 handwritten digits of scikit-learn, 16 × 16 pixels, each with five "
        "captions that tell some of them; a held-out caption ranks 160 pictures."
    ),
    unit=text("ranks"),
    measure=text("mean rank of the right picture for a held-out caption"),
    init=init,
    sized=fitting,
    loss=loss,
    cases=data,
    moving=moving,
    batch=32,
    steps=4000,
    rates=(0.001, 0.003, 0.01, 0.03),
    figures=figures,
    others=(
        text("recall@1, of all captions"),
        text("recall@10, of all captions"),
        text("hinge loss of a pair"),
    ),
    own=text(
        "a folder of NAME_train_caps.txt, with five captions an image, one a line, and "
        "NAME_train_ims.npy, images × features; likewise dev and test"
    ),
)
