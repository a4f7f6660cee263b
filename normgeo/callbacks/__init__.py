"""Callbacks that record a training run: for Lightning, the Trainer of Hugging Face, and Keras."""
