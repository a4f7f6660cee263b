"""Changes of weights and data that a normalizer ignores: transforms, certificates, witnesses."""
