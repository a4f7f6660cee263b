"""What a normalizer is: centers, scales, Eq. 5 and its linearization."""
