"""Whole networks as layer norm is used today: residual networks, attention, convolutions of images.

Their certificates, `residual_ignored` and `attention_ignored`, say which changes of all weights
leave a whole network's function as it is.
"""
