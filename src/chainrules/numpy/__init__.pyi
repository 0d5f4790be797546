"""NumPy's names, as type checkers and editors see them: those of chainrules have the same types."""

from numpy import *  # noqa: F403 - all of them
from numpy import exceptions as exceptions
from numpy import fft as fft
from numpy import lib as lib
from numpy import linalg as linalg
from numpy import ma as ma
from numpy import polynomial as polynomial
from numpy import random as random
from numpy import testing as testing
