"""The inputs of the networks; a test may give them inputs of another type."""

import numpy as np

X = np.random.default_rng(7).standard_normal((40, 5))  # cases of the plain networks
T = np.random.default_rng(8).standard_normal((2, 6, 5))  # sequences of tokens
IMAGES = np.random.default_rng(9).standard_normal((4, 2, 7, 7))
TOKENS = np.arange(28).reshape(4, 7) % 6
