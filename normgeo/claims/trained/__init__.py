"""Statements on networks that learn: fully connected, section 6.6, and recurrent."""

from normgeo.claims.trained import networks, sequences

CLAIMS = (*networks.CLAIMS, *sequences.CLAIMS)
