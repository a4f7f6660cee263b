"""Statements on networks that learn: fully connected, section 6.6, and recurrent."""

from normgeo.claims.trained import networks, sequences, tried_small

SMALL = tried_small.CLAIMS
CLAIMS = (*networks.CLAIMS, *sequences.CLAIMS)
