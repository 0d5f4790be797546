"""Cases of ndarray's methods and attributes, and of a NumPy number's."""

import functools

import numpy as np
from generic_points import case, normal

from chainrules import coverage_of_methods

real = functools.partial(normal, (41,))
A = real(2, 3)
S = real(3, 3)
F32 = A.astype(np.float32)
Z = A + 1j * real(2, 3, seed=1)
N = np.array([[0, 1, 1]])


class Attribute:
    """``x.name``, called where it is a method; ``then`` makes numbers of what is none."""

    def __init__(self, name, then=None):
        self.__name__, self.__module__, self.then = name, "numpy.ndarray", then

    def __call__(self, x, *args, **kwargs):
        found = getattr(x, self.__name__)
        y = found(*args, **kwargs) if callable(found) else found
        return y if self.then is None else self.then(y)


# Those that need arguments, or are worth more than x.name().
ARGUMENTS: dict = {
    "astype": [case(A, np.float32), case(A, complex), case(F32, float)],
    "argpartition": [case(A, 1)], "choose": [case(N, [real(3), real(3, seed=1)])],
    "clip": [case(A, -0.4, 0.6), case(A, max=0.3)], "compress": [case(A, [True, False, True], 1)],
    "dot": [case(A, S), case(A, 2.5), case(F32, F32.T)], "fill": [case(A, 0.3)],
    "item": [case(A, 2), case(A, (0, 1)), case(F32, 1), case(Z, 0)],
    "partition": [case(A, 1)], "put": [case(A, [0, 4], real(2))],
    "repeat": [case(A, 2), case(A, [1, 2], 0)], "reshape": [case(A, 3, 2), case(A, (-1,))],
    "searchsorted": [case(np.sort(S[0]), S[1])], "swapaxes": [case(A, 0, 1)],
    "take": [case(A, [2, 0]), case(A, 1, axis=1)], "trace": [case(S), case(S, 1)],
    "diagonal": [case(S), case(S, 1)], "sort": [case(A), case(A, 0)],
    "transpose": [case(A), case(A, 1, 0), case(A, (1, 0))], "squeeze": [case(A[None])],
    "sum": [case(A), case(A, 0), case(Z, axis=1, keepdims=True), case(F32)],
    "var": [case(A), case(A, axis=0, ddof=1), case(Z)], "std": [case(A), case(A, 1, ddof=1)],
    "round": [case(A), case(A, 1)], "ravel": [case(A), case(A, "F")], "flatten": [case(A, "F")],
    "flags": [case(A)], "dtype": [case(A)], "nonzero": [case(A)],
    "view": [case(A), case(A, np.ndarray), case(F32), case(Z)],
    "to_device": [case(A, "cpu"), case(F32, "cpu")],
    "tolist": [case(A)],  # of float32 NumPy makes Python's floats, and we float32
}  # fmt: skip
THEN: dict = {"flat": lambda flat: (flat[1:4], flat[0]), "dtype": str, "flags": str}
WRITERS = set()
OF_ONE_DTYPE = set()


def cases_of(name, status):
    x = case(A)
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    return [x, case(F32)] if status.startswith("passed") else [x, case(F32), case(Z)]


CASES: dict = {}
OF_A_NUMBER = {name for name, status in coverage_of_methods.number_statuses().items()
               if not status.startswith("refused") and name not in ARGUMENTS}  # fmt: skip
for _name, _status, _followed in coverage_of_methods.method_rows()["numpy.ndarray"]:
    if _followed:
        _f = Attribute(_name, THEN.get(_name))
        CASES[_f] = cases_of(_name, _status)
        if _name in OF_A_NUMBER:
            CASES[_f] = [*CASES[_f], case(np.float64(0.4)), case(np.float32(1.7))]
        if _name in ("fill", "partition", "put", "sort"):
            WRITERS.add(_f)
        if _name in ("tolist", "choose"):
            OF_ONE_DTYPE.add(_f)
CASES[Attribute("is_integer")] = [case(np.float64(0.4)), case(np.float32(0.4))]
