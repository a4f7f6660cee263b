"""The same Fisher information by other libraries: equal numbers, and the time of each.

The peers are those of `benchmarks/requirements.txt`; the output names those not installed. Each
computes in double precision with one thread, like normgeo, and its result is compared with ours
before the timing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.fisher import DIGITS, model_and_cases
from benchmarks.timing import Row, interleaved
from normgeo import NORMALIZERS, Fisher, NormalizedGLM, fisher

TITLE = "The same Fisher information by other libraries"
SAME = 1e-10  # relative to the largest entry
REPETITIONS = 50
METHODS = ("layer", "batch", "weight", "standard")


def rows() -> Iterator[Row]:
    with threadpool_limits(1):
        if there("torch"):
            import torch

            torch.set_num_threads(1)
            for method in METHODS:
                yield beside_torch_func(method)
            if there("curvlinops"):
                yield from (beside_curvlinops(method) for method in METHODS)
            if there("nngeometry"):
                yield beside_nngeometry()
        if there("statsmodels"):
            yield beside_statsmodels()


def there(library: str) -> bool:
    if find_spec(library) is None:
        print(f"  {library} is not installed: pip install -r benchmarks/requirements.txt")
        return False
    return True


def beside_torch_func(method: str) -> Row:
    """F v by one forward and one backward product of torch.func, with the softmax's A'' between."""
    import torch

    model, X = model_and_cases(method, DIGITS)
    F, outputs, theta = fisher(model, X), logits(model, X), parameters(model)
    N = len(X)

    def product(v: Any) -> Any:
        s, ds = torch.func.jvp(outputs, (theta,), (v,))
        p = torch.softmax(s, dim=1)
        curved = p * (ds - (p * ds).sum(dim=1, keepdim=True)) / N
        return torch.func.vjp(outputs, theta)[1](curved)[0]

    return compared(f"F v, {model.normalizer.title}", F, product, "torch.func, jvp and vjp")


def beside_curvlinops(method: str) -> Row:
    """F v as curvlinops' GGN of the cross-entropy, which equals the Fisher information here."""
    import torch
    from curvlinops import GGNLinearOperator

    model, X = model_and_cases(method, DIGITS)
    F, theta = fisher(model, X), torch.nn.Parameter(parameters(model))

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.theta = theta

        def forward(self, cases: Any) -> Any:
            return logits(model, cases)(self.theta)

    labels = torch.zeros(len(X), dtype=torch.long)
    peer = GGNLinearOperator(
        Net(),
        torch.nn.CrossEntropyLoss(reduction="mean"),
        [theta],
        [(torch.from_numpy(X), labels)],
        check_deterministic=False,
    )
    return compared(f"F v, {model.normalizer.title}", F, lambda v: peer @ v, "curvlinops, GGN")


def beside_nngeometry() -> Row:
    """The dense F of layer norm as nngeometry's PMatDense of a linear layer and a LayerNorm.

    Outputs are Gaussian here, since its softmax adds a constant of single precision before a
    division.
    """
    import torch
    from nngeometry.metrics import FIM
    from nngeometry.object import PMatDense
    from torch.utils.data import DataLoader, TensorDataset

    categorical, X = model_and_cases("layer", DIGITS)
    model = NormalizedGLM(categorical.normalizer, "gaussian", categorical.W)
    H, D = model.W.shape
    linear, norm = torch.nn.Linear(D, H, bias=False), torch.nn.LayerNorm(H, eps=0.0)
    net = torch.nn.Sequential(linear, norm).double()
    with torch.no_grad():
        linear.weight.copy_(torch.from_numpy(model.W))
    cases = TensorDataset(torch.from_numpy(X), torch.zeros(len(X), dtype=torch.long))
    loader = DataLoader(cases, batch_size=len(X))

    def dense() -> Any:
        return FIM(net, loader, PMatDense, variant="regression")

    places = np.arange(H * (D + 2)).reshape(H, D + 2)
    order = np.concatenate([places[:, :D].reshape(-1), places[:, D + 1], places[:, D]])
    theirs, ours = dense().to_torch().detach().numpy(), fisher(model, X).to_dense()
    require_same(ours[np.ix_(order, order)], theirs)
    pair = interleaved(lambda: fisher(model, X).to_dense(), dense, 3)
    return row(f"dense F, {model.normalizer.title}, Gaussian", "nngeometry, PMatDense", pair)


def beside_statsmodels() -> Row:
    """The expected information of logistic regression, one output without a norm."""
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    N, D, _ = DIGITS
    model = NormalizedGLM.random(NORMALIZERS["standard"], "bernoulli", 1, D, rng)
    X = rng.standard_normal((N, D))
    y = (rng.random(N) < 0.5).astype(float)
    design, theta = np.column_stack([X, np.ones(N)]), model.pack()
    peer = sm.GLM(y, design, family=sm.families.Binomial())

    def information() -> np.ndarray:
        return -np.asarray(peer.hessian(theta, observed=False, scale=1.0)) / N

    require_same(fisher(model, X).to_dense(), information())
    pair = interleaved(lambda: fisher(model, X).to_dense(), information, REPETITIONS)
    return row("dense F, standard, Bernoulli, one output", "statsmodels, GLM.hessian", pair)


def logits(model: NormalizedGLM, X: Any) -> Callable[[Any], Any]:
    """θ ↦ s (N, H) in torch, by the method's definition."""
    import torch

    inputs, (H, D) = torch.as_tensor(X), model.W.shape
    key = next(name for name, one in NORMALIZERS.items() if one is model.normalizer)

    def at(theta: Any) -> Any:
        each = theta.reshape(H, -1)
        W, b = each[:, :D], each[:, D]
        a = inputs @ W.T
        if key == "standard":
            return a + b
        if key == "weight":
            z = a / W.norm(dim=1)
        else:
            axis = {"batch": 0, "layer": 1}[key]
            c = a - a.mean(dim=axis, keepdim=True)
            z = c / c.square().mean(dim=axis, keepdim=True).sqrt()
        return each[:, D + 1] * z + b

    return at


def parameters(model: NormalizedGLM) -> Any:
    import torch

    return torch.from_numpy(model.pack())


def compared(what: str, F: Fisher, product: Callable[[Any], Any], peer: str) -> Row:
    """Time our product and a peer's, after checking that they are equal."""
    import torch

    v = np.random.default_rng(1).standard_normal(F.shape[0])
    there = torch.from_numpy(v)
    require_same(F.matvec(v), product(there).detach().numpy())
    return row(what, peer, interleaved(lambda: F.matvec(v), lambda: product(there), REPETITIONS))


def require_same(ours: np.ndarray, theirs: np.ndarray) -> None:
    apart = float(np.abs(ours - theirs).max() / np.abs(ours).max())
    if not apart <= SAME:
        raise RuntimeError(f"The peer's numbers are others: {apart:.2g} of the largest apart.")


def row(what: str, peer: str, pair: Any) -> Row:
    ratio = f"{1 / pair.ratio:.1f} times as fast"
    return Row(f"{what}, {DIGITS}", pair.seconds, peer, pair.against_seconds, ratio)
