"""Statements on residual networks, attention and convolutions."""

from normgeo.claims.depth import attention, images, residual

CLAIMS = (*residual.CLAIMS, *attention.CLAIMS, *images.CLAIMS)
