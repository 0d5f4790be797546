"""Partials say what they do not look at; their code is read to see that it is true."""

import dis
import inspect

import numpy as np
import pytest
from scipy import special

import chainrules as cr
from chainrules.rules import rrule


def names_read(function):
    """Return the variables that the code of ``function``, or one inside it, looks at."""
    code = function.__code__
    read = set(code.co_cellvars)
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        read.update(name if isinstance(name, tuple) else (name,) if name is not None else ())
    return read


def partials():
    """Every partial of ours that is not a constant."""
    cr.grad(special.erf)(0.5)  # so that the rules of SciPy are there
    for f, kind in rrule.kinds.items():
        for row in kind.rows:
            for i, partial in enumerate(row.partials):
                if row.constants[i] is None and inspect.isfunction(partial):
                    yield pytest.param(row, i, id=f"{f.__name__}-{i}")


@pytest.mark.parametrize(("row", "i"), list(partials()))
def test_a_partial_keeps_what_it_reads_and_nothing_else(row, i):
    code = row.partials[i].__code__
    if code.co_flags & inspect.CO_VARARGS:
        return  # everything is kept
    read = names_read(row.partials[i])
    first = code.co_varnames[: 1 + row.count]
    assert [name.startswith("_") for name in first] == [name not in read for name in first]
    reads_y, reads = row.reads(i)
    assert (reads_y, *reads) == tuple(name in read for name in first)


def test_what_a_partial_does_not_look_at_is_not_kept():
    x = np.ones(1000)

    @cr.primitive
    def f(x):
        return 2.0 * x

    def kept(partial):
        cr.scalar_rule(f, partial)
        recording = cr.vjp(lambda x: f(x), x)[1].pull.__self__
        ((node,),) = [entry for entry in recording.tape.recorded if entry]
        return [z is not None for z in (node.y, *node.args)]

    assert [False, False] == kept(lambda _, _x: 2.0)
    assert [True, False] == kept(lambda y, _x: y)
    assert [False, True] == kept(lambda _, x: 2.0 + 0 * x)
    assert [True, True] == kept(lambda *given: 2.0)
