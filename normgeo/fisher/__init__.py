"""The Fisher information metric: operator, blocks, KL divergence, spectra, contours."""
