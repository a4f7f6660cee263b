"""Networks in which layer norm is used today: residual networks, attention, convolutions of images.

`residual_ignored` and `attention_ignored` certify which changes of all weights leave the function
of a whole network unchanged.
"""
