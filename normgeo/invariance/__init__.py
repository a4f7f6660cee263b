"""What a normalizer ignores: transforms, certificates, witnesses."""
