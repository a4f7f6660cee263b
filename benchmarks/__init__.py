"""Timings, each against its floor or its peer in the same run: `python -m benchmarks`."""
