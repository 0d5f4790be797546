"""Automatic differentiation for plain NumPy code, from one vocabulary of rules.

``import chainrules as cr``. The names below follow the order of the architecture.
"""

import os as _os
import typing as _typing

__version__ = "0.1.0"

_top = _os.path.dirname(_os.path.dirname(_os.path.dirname(_os.path.realpath(__file__))))
_parts = ("config", "forward", "reverse", "rules")
if all(_os.path.isfile(_os.path.join(_top, part, "__init__.py")) for part in _parts):
    # A checkout: the four folders lie at its top. The links beside this file serve only type
    # checkers and editors. (All four are asked for: after `pip install --target src chainrules`
    # the top may be somebody's, with a config/ of its own.)
    __path__ = [_top, *__path__]

# The words that rules and engines share.
from .config import config as _config
from .config import errors as _errors
from .config.config import *
from .config.errors import *

# Asking rules, and writing them.
from .rules import (
    InplaceableThunk,
    NoTangent,
    ProjectTo,
    Tangent,
    ZeroTangent,
    batch_rule,
    bilinear_rule,
    composed,
    derivatives_given_output,
    frule,
    ignore_derivatives,
    instances,
    linear_rule,
    non_differentiable,
    not_implemented,
    opt_out,
    rrule,
    reduction_rule,
    register_container,
    scalar_rule,
    stop_gradient,
    thunk,
    unthunk,
    which,
    zero_tangent,
)
from .rules import array_of as array
from .black_boxes import primitive
from .rules.tracing.level import is_traced
from .rules.tracing.debugging import debug
from .rules.tracing.stop import value

# What follows takes longer to load, and is loaded when it is asked for: an author of rules needs
# none of it. A type checker reads these lines, and Python the names in ``_on_demand``.
if _typing.TYPE_CHECKING:
    # Derivatives, forward and reverse.
    from .forward import ForwardConfig, jacfwd, jvp, linearize, sparsity
    from .functions import Pullback, Pushforward
    from .reverse import (
        ReverseConfig,
        grad,
        hessian,
        hvp,
        jacobian,
        jacrev,
        value_and_grad,
        vjp,
        wirtinger,
    )

    # Code as it stands.
    from ._ad import ad
    from .adoption import Adoption, adopt

    # What is recorded and replayed.
    from .compiling import compile, explain

    # Many at once.
    from .batching import vmap

    # The price of derivatives.
    from ._price.cost import cost

    # The functions that come with rules of their own.
    from .rules import rulesets as _rulesets
    from .rules.rulesets.functions.checkpoint import checkpoint
    from .rules.rulesets.functions.flatten import flatten
    from .rules.rulesets.functions.folds import accumulate, reduce
    from .rules.rulesets.functions.implicit import fixed_point, implicit
    from .rules.rulesets.functions.map import map
    from .rules.rulesets.functions.scan import loop, scan
    from .rules.rulesets.functions.while_loop import while_loop
    from .rules.rulesets.functions.sequences import unstack
    from .rules.rulesets.linalg.matrix_functions import matrix_function
else:  # a type checker would take it that every name exists
    from ._on_demand import completions as _completions
    from ._on_demand import find as _find
    from .config.tracebacks import door as _door

    @_door
    def __getattr__(name):
        """Load what has this name; of names of other libraries say what to write."""
        found = globals()[name] = _find(name)
        return found

    def __dir__():
        return _completions(__all__)


__all__ = [
    "Adoption", "ForwardConfig", "InplaceableThunk", "NoTangent", "ProjectTo", "Pullback",
    "Pushforward", "ReverseConfig", "Tangent", "ZeroTangent", "accumulate", "ad", "adopt",
    "array", "batch_rule", "bilinear_rule", "checkpoint", "compile", "composed", "cost",
    "debug", "derivatives_given_output", "explain", "fixed_point", "flatten", "frule", "grad",
    "hessian", "hvp", "ignore_derivatives", "implicit", "instances", "is_traced", "jacfwd",
    "jacobian", "jacrev", "jvp", "linear_rule", "linearize", "loop", "map", "matrix_function",
    "non_differentiable", "not_implemented", "opt_out", "primitive", "reduce", "reduction_rule",
    "register_container", "rrule", "scalar_rule", "scan", "sparsity", "stop_gradient", "thunk",
    "unstack", "unthunk", "value", "value_and_grad", "vjp", "vmap", "which", "while_loop",
    "wirtinger", "zero_tangent",
]  # fmt: skip
__all__ += _errors.__all__
__all__ += _config.__all__
