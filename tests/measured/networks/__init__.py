"""Networks in NumPy whose verdicts are derived by hand; the derivation stands beside each."""

from tests.measured.networks import attention, images_and_tokens, norms, plain, residual
from tests.measured.networks.known import NETWORKS

__all__ = ["NETWORKS", "attention", "images_and_tokens", "norms", "plain", "residual"]
