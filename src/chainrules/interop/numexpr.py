"""numexpr in adopted modules: its expressions are computed by NumPy where a value is traced.

An expression is Python, which numexpr compiles for its own machine. It checks it here, too.
"""

import ast
import functools
import sys
from types import CodeType
from typing import Any

import numexpr
import numpy as np
from numexpr.expressions import functions

from ..config import MissingRuleError, user_line
from ..rules import as_dtype, dtype_of, innermost
from ..rules.engines.buffers import buffer_if_new, handed_out

_NAMES = {name: getattr(np, name) for name in functions if hasattr(np, name)}
_NAMES |= {"complex": lambda a, b: a + 1j * b, "double": np.float64, "__builtins__": {}}


def evaluate(
    ex: str,
    local_dict: Any = None,
    global_dict: Any = None,
    out: Any = None,
    *options: Any,
    _frame_depth: int = 3,
    **named: Any,
) -> Any:
    """As ``numexpr.evaluate``, of arrays and numbers of which some may be traced."""
    caller = sys._getframe(_frame_depth - 2)
    scopes = [
        caller.f_locals if local_dict is None else local_dict,
        caller.f_globals if global_dict is None else global_dict,
    ]
    given = {
        name: handed_out(scope[name])
        for name in _code_of(ex).co_names
        if name not in functions
        for scope in reversed(scopes)
        if name in scope
    }
    if innermost((given, out)) is None:
        y = numexpr.evaluate(ex, given, {}, handed_out(out), *options, **named)
        return buffer_if_new(y, tuple(given.values())) if out is None else out
    if out is not None:
        raise MissingRuleError(
            f"numexpr cannot write into out= what is followed, in {user_line()}.\n"
            "  leave out= away, and use the array that is returned"
        )
    ones = {name: np.ones((1,) * np.ndim(x), _dtype_of(x)) for name, x in given.items()}
    alike = numexpr.evaluate(ex, ones, {}, None, *options, **named)  # it checks the expression
    y = eval(_code_of(ex), _NAMES, given)
    return y if _dtype_of(y) == alike.dtype else as_dtype(y, alike.dtype)


def _dtype_of(x: Any) -> Any:
    dtype = dtype_of(x)
    return np.asarray(x).dtype if dtype is None else dtype


@functools.lru_cache(256)
def _code_of(ex: str) -> CodeType:
    """Return the code of an expression, whose constants are of double precision in numexpr."""
    tree = _Doubles().visit(ast.parse(ex, "<expr>", "eval"))
    return compile(ast.fix_missing_locations(tree), "<expr>", "eval")


class _Doubles(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, float):
            return node
        return ast.Call(ast.Name("double", ast.Load()), [node], [])


def __getattr__(name: str) -> Any:
    return getattr(numexpr, name)
