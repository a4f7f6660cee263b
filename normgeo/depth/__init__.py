"""Where layer norm is used today: residual networks, attention, convolutions of images."""
