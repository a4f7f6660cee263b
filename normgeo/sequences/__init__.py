"""Recurrent cells over sequences: their steps, gradients, training, and how far they remember."""
