"""Functions of a matrix, or of each in a stack: a derivative in each direction, at a point."""

from ....config import defined_at
from ... import Kind, add_kind, positional_names


class MatrixRule(Kind):
    """``push(adot, y, a)`` gives ``ydot``, and ``pull(ybar, y, a)`` gives ``abar``.

    What a pull does not look at has a name with an underscore in front, and no tape keeps it.
    """

    __slots__ = ("looks", "pulled", "pushed")
    label = "matrix rule"

    def __init__(self, f, push, pull):
        super().__init__(f, 1, set(), defined_at(pull))
        self.pushed = push
        self.pulled = pull
        self.looks = [not name.startswith("_") for name in positional_names(pull)[1:]]

    def push(self, i, adot, y, args, kwargs):
        return self.pushed(adot, y, *args)

    def pull(self, i, ybar, y, args, kwargs, space):
        return self.pulled(ybar, y, *args)

    def reads(self, i):
        reads_y, reads_a = self.looks
        return reads_y, (reads_a,)


def matrix_rule(f, push, pull):
    """Give the derivative of a function of one matrix: see ``MatrixRule``."""
    add_kind(f, MatrixRule(f, push, pull))
