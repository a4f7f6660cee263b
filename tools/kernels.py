"""Two kernels of OpenBLAS that this processor supports but does not choose by itself.

    OPENBLAS_CORETYPE=Haswell make core

Each rounds differently, and other machines choose them: tests must pass with all.
"""

from pathlib import Path

import numpy  # noqa: F401 - loads OpenBLAS
from threadpoolctl import threadpool_info

# The processor feature that a kernel needs. The first two besides the chosen one are tried.
NEEDS = {"Sandybridge": "avx", "Zen": "avx2", "Haswell": "avx2", "SkylakeX": "avx512f"}
CPU = Path("/proc/cpuinfo")


def own() -> str:
    """The kernel that OpenBLAS uses, or "" without OpenBLAS."""
    return next((str(i.get("architecture", "")) for i in threadpool_info()), "")


def others(flags: set[str], chosen: str) -> list[str]:
    """Two kernels besides the chosen one, for a processor with these flags."""
    return [name for name, flag in NEEDS.items() if flag in flags and name != chosen][:2]


if __name__ == "__main__":
    print(*others(set(CPU.read_text().split()) if CPU.exists() else set(), own()))
