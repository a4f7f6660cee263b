"""Recurrent cells over sequences: their steps, gradients, training, and how long they remember."""
