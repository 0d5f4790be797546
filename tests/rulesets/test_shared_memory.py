"""Writes into the result of a rule that is a view, in NumPy, do as there, or are refused.

Of every case of every rule: where a result shares memory with an argument, a write into the one
is seen in the other. A trace that makes two arrays of these would compute other numbers.
"""

import numpy as np
import pytest
from test_every_rule import MODULES

import chainrules as cr
from chainrules.rules.containers import iterate_leaves

MODES = {
    "grad": lambda f, x: cr.value_and_grad(f)(x)[0],
    "jvp": lambda f, x: cr.jvp(f, (x,), (x,))[0],
    "jvp of grad": lambda f, x: cr.jvp(cr.value_and_grad(f), (x,), (x,))[0][0],
}


def arrays_in(y):
    return [part for part in iterate_leaves(y) if np.ndim(part) and np.size(part)]


def of_numbers(x):
    return isinstance(x, np.ndarray) and x.ndim > 0 and x.dtype.kind in "fc"


def shared(module):
    """Yield the calls, with the argument and the array in the result that share memory."""
    for f, cases in module.CASES.items():
        for given, kwargs in cases:
            args = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
            for j, part in enumerate(arrays_in(f(*args, **kwargs))):
                for k, x in enumerate(args):
                    if of_numbers(x) and of_numbers(part) and np.shares_memory(x, part):
                        yield f, args, kwargs, k, j


def total(x):
    return np.real(np.sum(x * np.arange(1.0, np.size(x) + 1).reshape(np.shape(x))))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_writes_are_seen_or_refused(module, mode):
    for f, args, kwargs, k, j in shared(module):

        def result_of(x, f=f, args=args, kwargs=kwargs, k=k, j=j):
            return arrays_in(f(*args[:k], x, *args[k + 1 :], **kwargs))[j]

        def written_to_the_result(x, result_of=result_of):
            x = x * 1.0
            result_of(x)[...] = 7.0
            return total(x)

        def written_to_the_argument(x, result_of=result_of):
            x = x * 1.0
            y = result_of(x)
            x[...] = 3 * x
            return total(y)

        for program in (written_to_the_result, written_to_the_argument):
            try:
                expected = program(args[k])
            except ValueError:  # read-only
                with pytest.raises((ValueError, cr.MutationError)):
                    mode(program, args[k])
                continue
            try:
                y = mode(program, args[k])
            except (cr.MutationError, ValueError):
                continue
            assert np.allclose(y, expected), (f, args, kwargs, program.__name__)
