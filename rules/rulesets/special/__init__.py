"""Rules for scipy.special, loaded when the first function of it is asked for."""

from . import late
