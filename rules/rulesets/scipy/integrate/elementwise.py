"""tanhsinh: integrals of a function that takes any array, entry by entry.

The value is SciPy's; the derivative is that of the same rule, on nodes that move with the limits.
"""

import functools
import warnings

import numpy as np
from scipy import integrate

from .....config import user_line
from .... import array_of, value, with_values
from ..traced_objects import by_position
from .double_exponential import integrated, nodes_of
from .integrands import as_array, plainly, rebuilt
from .refined import Refinement, refined, stand_ins

# Of levels: how much finer than SciPy's, and how near to the ends, where numbers may overflow.
FINEST = 11  # SciPy goes to 10, with 8192 nodes on each side
SAME = 1e-5  # of the largest value
FINER = ((0, 0.0), (1, 0.0), (2, 1e-60), (3, 1e-30), (4, 0.0), (5, 0.0))


class ElementwiseCall:
    """A call of SciPy's function ``name`` of ``f``, and its answer."""

    def __init__(self, name, f, limits, args, log, options):
        self.name, self.log, self.line = name, log, user_line()
        args = args if isinstance(args, tuple) else (args,)
        f, args = by_position(getattr(integrate, name), f, args, options)
        self.build, self.parameters, self.traced = rebuilt(name, (f, args, tuple(limits.values())))
        known = f, args, tuple(limits.values())
        if not self.traced:
            self.run(known, None, limits, options)
        else:
            run = functools.partial(self.run, limits=limits, options=options)
            self.build.run_plain(run, f"scipy.integrate.{name}")

    def run(self, known, level, limits, options):
        f, args, known = known
        args, known = value((args, known))
        own_f = self.aside(f, level) if self.traced else f
        given = dict(zip(limits, known))
        own = getattr(integrate, self.name)(own_f, **given, args=args, log=self.log, **options)
        self.answer = own
        self.shape = np.broadcast_shapes(*map(np.shape, (*known, *args)))
        self.limits = [np.broadcast_to(x, self.shape) for x in known]

    def aside(self, f, level):
        """Return ``f`` as SciPy calls it, with arguments of which it picks entries."""

        def own_f(x, *args):
            return self.build.aside(lambda *args: f(x, *args), *args)

        return plainly(functools.wraps(f)(own_f), (), self.name, self.line, level)

    def opened(self, parameters):
        """Return the function of nodes (*S, n), and the limits (S), for given parameters."""
        f, args, limits = self.build(*parameters)
        args = [np.broadcast_to(array_of(x), self.shape)[..., None] for x in args]

        def of_nodes(x):
            y = as_array(f(x, *args))
            return np.exp(y - self.known[..., None]) if self.log else y

        return of_nodes, [np.broadcast_to(array_of(x) * 1.0, self.shape) for x in limits]

    def result(self, word, summand, pieces, level, rtol):
        """Return SciPy's answer, with the derivatives of its ``word``.

        ``summand(piece, *parameters)`` adds up to it; of a logarithm, to its exponential over that
        of SciPy's: ``y = own + log(sum of exp(f - own))``.
        """
        own = self.answer[word]
        self.known = np.asarray(own)
        self.dtype = np.finfo(self.known.dtype).dtype
        if not np.all(self.answer.success):
            warnings.warn(
                f"scipy.integrate.{self.name} in {self.line} did not succeed (its status is "
                f"{np.min(self.answer.status)}), and its derivative is no better",
                integrate.IntegrationWarning,
                stacklevel=4,
            )
        expected = np.ones_like(own)[()] if self.log else own
        level = self.first_level(expected, summand, pieces, level)
        levels = [(level + more, cut) for more, cut in FINER if more < 2 or level + more <= FINEST]
        rule = Refinement(pieces, levels, self.name, self.line, self.dtype, rtol)
        summand.known = expected
        y = refined(rule, summand, *self.parameters)
        result = type(self.answer)(self.answer)
        result[word] = with_values(own + np.log(y) if self.log else y, own)
        return result

    def first_level(self, expected, summand, pieces, level):
        """Return the first level that gives SciPy's value: a coarser one may miss a narrow peak."""
        plain_parameters = value(self.parameters)
        near = SAME * np.max(np.abs(expected), initial=0.0)
        if not self.log:
            near = near + 10 * np.max(self.answer.error, initial=0.0)

        def total(*parameters):
            return sum(summand(piece, *parameters) for piece in pieces((finer, 0.0)))

        for finer in range(level, max(level, min(level + FINER[-1][0], FINEST)) + 1):
            with np.errstate(all="ignore"):
                y = self.build.aside(total, *plain_parameters)
            if np.all(np.abs(y - expected) <= near):
                return finer
        return level


def tanhsinh(f, a, b, *, args=(), log=False, **options):
    options = {name: x if name == "kwargs" else value(x) for name, x in options.items()}
    call = ElementwiseCall("tanhsinh", f, {"a": a, "b": b}, args, log, options)
    if not call.traced:
        return call.answer

    def summand(nodes, *parameters):
        of_nodes, (a, b) = call.opened(parameters)
        return integrated(of_nodes, a, b, *nodes)

    level = max(2, int(np.max(call.answer.maxlevel, initial=0)))
    rtol = None if log else options.get("rtol")
    return call.result("integral", summand, lambda at: [nodes_of(*at, call.dtype)], level, rtol)


INSTEAD = stand_ins(tanhsinh)
