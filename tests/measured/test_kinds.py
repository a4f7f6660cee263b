"""Arrays of any library and any tree are accepted, and passed to the function as they came."""

import warnings
from collections import OrderedDict
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import normgeo
from normgeo.base.refusal import Refusal
from normgeo.measured.tree import with_leaves
from tests.measured.test_verdicts import signs

W = np.random.default_rng(0).standard_normal((6, 5))
V = np.random.default_rng(1).standard_normal((3, 6))
X = np.random.default_rng(2).standard_normal((20, 5))


def after_norm(W, V, X=X):
    a = X @ W.T
    c = a - a.mean(axis=1, keepdims=True)
    return np.tanh(c / np.sqrt((c**2).mean(axis=1, keepdims=True))) @ V.T


class Tensor:
    """Like PyTorch's: no array while it requires a gradient; only its own kind makes another."""

    dtype = "torch.float32"
    held = np.float32

    def __init__(self, values):
        self.values = np.asarray(values, self.held)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def detach(self):
        return SimpleNamespace(__array__=lambda dtype=None, copy=None: self.values, cpu=self.cpu)

    def cpu(self):
        return self.values

    def new_tensor(self, values):
        return type(self)(values)

    def double(self):
        return Double(self.values)


class Double(Tensor):
    dtype, held = "torch.float64", np.float64


class Brain(Tensor):
    """bfloat16: 8 bits of mantissa, which NumPy lacks."""

    dtype = "torch.bfloat16"

    def __init__(self, values):
        self.values = rounded(values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        return self.values


def rounded(values):
    """The nearest numbers of 8 bits."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    with np.errstate(over="ignore"):
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32)


class Namespaced:
    """Like JAX's: its namespace makes arrays, in single precision whatever is asked for."""

    def __init__(self, values):
        self.values = np.asarray(values, np.float32)
        self.dtype = self.values.dtype

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __array_namespace__(self):
        def asarray(values, dtype):
            if dtype == np.float64:
                warnings.warn("float64 is not available, and is truncated to float32", stacklevel=2)
            return Namespaced(values)

        return SimpleNamespace(asarray=asarray, float64=np.float64)


class Exchanged:
    """An array that has only `__dlpack__`."""

    def __init__(self, values):
        self.values = np.array(values)

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize("kind", [Tensor, Double, Namespaced, Exchanged])
def test_arrays_come_back_in_the_kind_that_came(kind):
    seen = set()

    def f(parameters):
        seen.update(type(leaf) for leaf in parameters.values())
        values = {name: leaf.values for name, leaf in parameters.items()}
        inputs = X.astype(values["W"].dtype)
        return after_norm(**values, X=inputs)

    table = normgeo.measure(f, {"W": kind(W), "V": kind(V)})
    assert seen == {Double if kind is Tensor else kind}
    assert table.kinds == (("float32",) if kind is Namespaced else ("float64",))
    assert signs(table.tensors["W"]) == "✓✗✓✗✗✗"
    assert signs(table.tensors["V"]) == "✗✗✗✗✗✗"


def test_network_that_takes_its_own_kind_only_stays_in_it():
    def f(parameters):
        if any(type(leaf) is not Tensor for leaf in parameters.values()):
            raise RuntimeError("expected m1 and m2 to have the same dtype")
        inputs = X.astype(np.float32)
        return Tensor(after_norm(*(leaf.values for leaf in parameters.values()), X=inputs))

    table = normgeo.measure(f, {"W": Tensor(W), "V": Tensor(V)})
    assert table.kinds == ("float32",)
    assert signs(table.tensors["W"]) == "✓✗✓✗✗✗"


def test_what_bfloat16_can_tell_is_told():
    """Each step is rounded to 8 bits. No verdict is wrong; large moves and exact zeros are seen.

    V reads z, which sums to 0.
    """

    def f(parameters):
        W, V = (leaf.values for leaf in parameters.values())
        a = rounded(rounded(X) @ W.T)
        c = rounded(a - rounded(a.mean(axis=1, keepdims=True)))
        z = rounded(c / np.sqrt((c**2).mean(axis=1, keepdims=True)))
        return Brain(z @ V.T)

    table = normgeo.measure(f, {"W": Brain(W), "V": Brain(V)}, float64=False)
    assert table.kinds == ("bfloat16",)
    assert 2**-8 < table.rounding < 0.1
    for tensor, truth in (("W", "✓✗✓✗✗✗"), ("V", "✗✗✗✓✗✓")):
        for found, true in zip(signs(table.tensors[tensor]), truth, strict=True):
            assert found in {true, "?"}
    assert signs(table.tensors["W"])[::2] == "✓✓✗"
    assert signs(table.tensors["V"])[0] == "✗"
    assert "It ran in bfloat16; " in str(table)


def test_kind_that_makes_no_other_is_refused():
    class Sealed:
        def __array__(self, dtype=None, copy=None):
            return W

        def __init__(self):
            pass

        def __repr__(self):
            return "Sealed()"

    with pytest.raises(
        Refusal, match=r"^A changed array must be given back in the kind that came; got Sealed, "
    ):
        normgeo.measure(lambda p: X @ np.asarray(p["W"]).T, {"W": Sealed()})


class Pair(NamedTuple):
    W: np.ndarray
    V: np.ndarray


@pytest.mark.parametrize(
    ("tree", "names"),
    [
        ({"a": {"W": W}, "b": [V, None, 3, "words"]}, ["a/W", "b/0"]),
        ([W, (V,)], ["0", "1/0"]),
        (Pair(W, V), ["0", "1"]),
        (OrderedDict(W=W, V=V), ["W", "V"]),
        (({"W": W, "steps": np.arange(3)}, V), ["0/W", "1"]),
    ],
)
def test_trees_keep_their_containers(tree, names):
    def arrays(node):
        if isinstance(node, dict):
            node = list(node.values())
        if isinstance(node, list | tuple):
            return [found for one in node for found in arrays(one)]
        return [node] if isinstance(node, np.ndarray) and node.dtype.kind == "f" else []

    def alike(one, other):
        assert type(one) is type(other)
        if isinstance(one, dict):
            assert [*one] == [*other]
            one, other = list(one.values()), list(other.values())
        if isinstance(one, list | tuple):
            for a, b in zip(one, other, strict=True):
                alike(a, b)

    def f(given):
        alike(given, tree)
        return after_norm(*arrays(given))

    table = normgeo.measure(f, tree)
    assert [*table.tensors] == names
    assert signs(table.tensors[names[0]]) == "✓✗✓✗✗✗"


def test_a_single_array_is_a_tree():
    table = normgeo.measure(lambda W: after_norm(W, V), W)
    assert signs(table.tensors["parameters"]) == "✓✗✓✗✗✗"
    np.testing.assert_array_equal(with_leaves(W, {"parameters": V}), V)


@pytest.mark.parametrize("transposed", [False, True])
def test_tied_arrays_are_changed_together_and_told(transposed):
    E = np.random.default_rng(3).standard_normal((6, 4))
    tokens = np.arange(30).reshape(5, 6) % 6

    def f(parameters):
        h = parameters["E"][tokens]
        h = h / np.sqrt((h**2).mean(axis=-1, keepdims=True))
        U = parameters["U"] if transposed else parameters["U"].T
        return h @ U

    tied = normgeo.measure(f, {"E": E, "U": E.T if transposed else E})
    assert [*tied.tensors] == ["E"]
    assert signs(tied.tensors["E"]) == "✗✗✗✗✗✗"
    assert "'E' and 'U' are one array and are changed together." in tied.notes()
    apart = normgeo.measure(f, {"E": E, "U": (E.T if transposed else E).copy()})
    assert signs(apart.tensors["E"]) == "✓✓✗✗✗✗"


def test_no_library_of_tensors_is_imported():
    import subprocess
    import sys

    code = (
        "import sys, numpy, normgeo\n"
        "normgeo.measure(lambda p: p['W'] ** 2, {'W': numpy.ones((3, 2))})\n"
        "print(sorted({'torch', 'jax', 'tensorflow', 'pandas'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
