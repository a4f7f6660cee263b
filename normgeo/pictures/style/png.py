"""PNG: its chunks, and pictures of a few colors as data URIs.

Source: Portable Network Graphics, third edition.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG: length, type, data, checksum."""
    checksum = zlib.crc32(kind + data)
    return len(data).to_bytes(4, "big") + kind + data + checksum.to_bytes(4, "big")


def indexed(levels: NDArray[np.uint8], colors: Sequence[str]) -> bytes:
    """A PNG whose pixels are the numbers of colors "#rrggbb".

    Args:
        levels: (height, width), the first row on top. colors: at most 256.

    """
    height, width = levels.shape
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((8, 3, 0, 0, 0))
    palette = bytes.fromhex("".join(color.removeprefix("#") for color in colors))
    # Each row as its difference from the one above (filter 2): zeros but for the edges.
    filtered = np.full((height, width + 1), 2, np.uint8)
    filtered[:, 1:] = np.diff(levels, axis=0, prepend=np.zeros((1, width), np.uint8))
    pixels = zlib.compress(filtered.tobytes(), 9)
    parts = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", pixels), (b"IEND", b""))
    return SIGNATURE + b"".join(chunk(kind, data) for kind, data in parts)


def data_uri(png: bytes) -> str:
    """A PNG within an address."""
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
