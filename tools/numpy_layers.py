"""Parts of networks in NumPy, for any number type: norms, attention, convolutions."""

from typing import Any

import numpy as np


def layer_norm(a: Any, eps: float = 0.0, groups: int = 1) -> Any:
    parts = a.reshape(*a.shape[:-1], groups, -1)
    c = parts - parts.mean(axis=-1, keepdims=True)
    return (c / np.sqrt((c**2).mean(axis=-1, keepdims=True) + eps)).reshape(a.shape)


def rms_norm(a: Any, eps: float = 0.0) -> Any:
    return a / np.sqrt((a**2).mean(axis=-1, keepdims=True) + eps)


def batch_norm(a: Any, eps: float = 0.0) -> Any:
    axes = tuple(range(a.ndim - 1))
    c = a - a.mean(axis=axes, keepdims=True)
    return c / np.sqrt((c**2).mean(axis=axes, keepdims=True) + eps)


def relu(a: Any) -> Any:
    return np.maximum(a, 0)


def softmax(a: Any) -> Any:
    e = np.exp(a - a.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def heads(a: Any, count: int) -> Any:
    """(N, T, count · d) → (N, count, T, d)."""
    return a.reshape(*a.shape[:2], count, -1).swapaxes(1, 2)


def attend(q: Any, k: Any, v: Any) -> Any:
    """Attention of heads (N, count, T, d), back as (N, T, count · d)."""
    shares = softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5)
    out = (shares @ v).swapaxes(1, 2)
    return out.reshape(*out.shape[:2], -1)


def turned(a: Any) -> Any:
    """Rotary positions: pairs of numbers rotate by an angle that grows with the position."""
    half = a.shape[-1] // 2
    angles = np.arange(a.shape[-2])[:, None] / 10.0 ** np.arange(half)
    x, y = a[..., :half], a[..., half:]
    c, s = (wave(angles).astype(a.dtype) for wave in (np.cos, np.sin))
    return np.concatenate([x * c - y * s, x * s + y * c], axis=-1)


def silu(a: Any) -> Any:
    return a / (1 + np.exp(-a))


def convolve(images: Any, K: Any, stride: int = 1, padding: int = 0) -> Any:
    """Images (N, C, rows, columns) by kernels (O, C, rows, columns)."""
    around = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(images, around), K.shape[2:], axis=(2, 3)
    )[:, :, ::stride, ::stride]
    N, _, rows, columns = windows.shape[:4]
    flat = windows.transpose(0, 2, 3, 1, 4, 5).reshape(N * rows * columns, -1)
    return (flat @ K.reshape(len(K), -1).T).reshape(N, rows, columns, -1).transpose(0, 3, 1, 2)
