"""The kernels of OpenBLAS that this processor runs but does not choose by itself, two of them.

    OPENBLAS_CORETYPE=Haswell make core

Each rounds differently, and other machines choose them: what a test claims must hold under all.
"""

from pathlib import Path

import numpy  # noqa: F401 - loads OpenBLAS
from threadpoolctl import threadpool_info

# What a kernel asks of the processor. The first two that are not its own are tried.
NEEDS = {"Sandybridge": "avx", "Zen": "avx2", "Haswell": "avx2", "SkylakeX": "avx512f"}
CPU = Path("/proc/cpuinfo")


def own() -> str:
    """The kernel that OpenBLAS uses, or "" where there is no OpenBLAS."""
    return next((str(i.get("architecture", "")) for i in threadpool_info()), "")


def others(flags: set[str], chosen: str) -> list[str]:
    """Two kernels besides the chosen one, for a processor with these flags."""
    return [name for name, flag in NEEDS.items() if flag in flags and name != chosen][:2]


if __name__ == "__main__":
    print(*others(set(CPU.read_text().split()) if CPU.exists() else set(), own()))
