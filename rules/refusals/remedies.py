"""Description of the expression that asked a traced value for its plain number, for errors.

Python tells where in a line the instruction under way stands, as its tracebacks do. So an error
can say ``math.cos(x)`` or ``B[i + 1] = ...``, and what to write instead of that, where the source
is there to be read. Nothing but texts depends on it.
"""

import ast
import dis
import inspect
import itertools
import linecache
import sys
from collections import Counter
from collections.abc import Iterator
from types import BuiltinFunctionType, FrameType, ModuleType
from typing import Any

import numpy as np

from ...config import user_frame
from ..known_classes import library_of
from ..loading import imported

# Modules whose globals see traced values: how often each was adopted, by the id of its globals.
adopted: Counter = Counter()
# The modules of SciPy that chainrules.scipy shows with functions that see traced values.
FAMILIES = (
    "fft", "fftpack", "integrate", "interpolate", "linalg", "ndimage", "signal",
    "signal.windows", "sparse",
    "sparse.csgraph", "sparse.linalg", "spatial", "spatial.distance", "spatial.transform",
    "special", "stats", "optimize", "optimize.elementwise",
)  # fmt: skip
# Packages whose adoption was tried, and does not help; and what to write in their place.
INSTEAD_OF_ADOPTION = {
    "matplotlib": "draw the plain number: plt.plot(cr.value(x)), which needs no derivative",
    "pandas": 'cr.adopt("pandas.core.window"), where it is rolling, expanding or ewm: this step of '
    "pandas is compiled, and needs plain numbers;\n  else take the numbers out, s.to_numpy(), and "
    "go on with NumPy's functions: np.lib.stride_tricks.sliding_window_view(s.to_numpy(), n)",
    "polars": "take the numbers out, df['a'].to_numpy(), and go on with NumPy's functions: polars "
    "computes in Rust, with plain numbers",
    "unyt": "write x * unit, in place of unyt_array(x, unit), and q.to(unit) of a quantity",
    "xarray": "take the array out, a.data, and go on with NumPy's functions: this step of xarray "
    'needs plain numbers; interp at plain points does not after cr.adopt("xarray.core.missing")',
}
OF_STATISTICS = "np.mean(x), np.std(x, ddof=1), np.median(x) and the like"
OF_CYTHON = frozenset({"cython_function_or_method", "fused_cython_function"})  # types of functions
_OTHER_NAMES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "fsum": "sum", "dist": "linalg.norm", "pow": "power",
}  # fmt: skip


_OF_NUMBERS = frozenset({"mean", "std", "var"})  # methods that divide, as floats


def asked() -> tuple[str, str] | None:
    """Return what the user's line was doing, and what to write instead; None if it tells not."""
    frame = user_frame()
    text = None if frame is None else _under_way(frame)
    if frame is None or text is None:
        return None
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    if len(text) > 80:
        if not isinstance(node, ast.Call):
            return None
        text = f"{ast.unparse(node.func)}(...)"
    if isinstance(node, ast.Subscript):
        return f"`{text} = ...`", _instead_of_write(node, frame)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return text, "write f'{x:f}', which shows a traced number, too"
    if isinstance(node, ast.BinOp) and _is_sparse(_resolved(node.left, frame)):
        of_ours = f"chainrules.scipy.sparse.csr_array({ast.unparse(node.left)})"
        return text, f"write {of_ours}, once, in place of the matrix of SciPy's"
    instead = _instead_of_call(node, frame) if isinstance(node, ast.Call) else None
    return None if instead is None else (text, instead)


def _is_sparse(x: object) -> bool:
    return any(cls.__module__.startswith("scipy.sparse") for cls in type(x).__mro__)


def updated() -> str:
    """Return the name that the user's line updates in place, with where it is bound; "" of none."""
    frame = user_frame()
    text = None if frame is None else _under_way(frame)
    if frame is None or text is None:
        return ""
    try:
        statement = ast.parse(text).body[0]
    except SyntaxError:
        return ""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name):
        return ""
    return f"{statement.target.id}{_bound(statement.target, frame)}"


def _instead_of_write(node: ast.Subscript, frame: FrameType) -> str:
    names = frame.f_globals
    named = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    if named or _has_fields(node, frame):
        return "keep the fields in a dict of arrays, or in an object: {'m': x, 'v': y}"
    if _is_sparse(_resolved(node.value, frame)):
        return (
            f"{ast.unparse(node.value)} is a sparse matrix, which takes no traced values one by "
            "one: collect these in a list, and write "
            "chainrules.scipy.sparse.csr_array((np.stack(values), (rows, columns)), shape=shape); "
            "or fill y = np.zeros(shape, like=x)"
        )
    if id(names) in adopted:
        array = ast.unparse(node.value)
        local = {*frame.f_code.co_varnames, *frame.f_code.co_cellvars, *frame.f_code.co_freevars}
        if isinstance(node.value, ast.Name) and array not in local:
            return (
                "make the array while the function runs, in a module that is adopted: one that "
                f"was there before takes no traced values; y = np.copy({array}) does"
            )
        return (
            f"{array}{_bound(node.value, frame)} is a plain array, which was there before, or "
            f"which an operator made of such: write {array} = np.copy({array}) first"
        )
    by_hand = "make the array with np.zeros(n, like=x)"
    if isinstance(node.value, ast.Attribute):
        by_hand = f"make the object inside the differentiated function, or {by_hand[5:]}"
    return _remedy(by_hand, names, "numpy")


def _has_fields(node: ast.expr, frame: FrameType) -> bool:
    """Say whether a part of an array with named fields is written to."""
    while isinstance(node, ast.Subscript):
        node = node.value
    owner = _resolved(node, frame)
    return isinstance(owner, np.ndarray | np.void) and owner.dtype.names is not None


def _bound(node: ast.expr, frame: FrameType) -> str:
    """Return in which lines of its function a variable is bound; nothing of what is none."""
    if not isinstance(node, ast.Name):
        return ""
    found = set()
    for step in dis.get_instructions(frame.f_code):
        bound = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        if "STORE_FAST" in step.opname and node.id in bound and step.positions is not None:
            found.add(step.positions.lineno)
    lines = sorted(line for line in found if line not in (None, frame.f_lineno))
    return f", bound in line {' and '.join(map(str, lines))}," if lines else ""


def _instead_of_call(node: ast.Call, frame: FrameType) -> str | None:
    called, names = _resolved(node.func, frame), frame.f_globals
    if called is None and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_NUMBERS:
        # Of an object array, as A.dot(x) of a plain A gives, NumPy's method asks for floats.
        rest = ast.unparse(ast.Call(ast.Name("_"), node.args, node.keywords))[1:]
        product = "; or A @ x in place of A.dot(x)" if ".dot(" in ast.unparse(node) else ""
        made = f"cr.array({ast.unparse(node.func.value)}).{node.func.attr}{rest}"
        return f"write {made}{product}"
    made = _number_class(node, called, frame)
    if made is not None:
        return (
            f"{made.__name__} derives from a number of Python's, which has no room for a "
            "derivative: let it keep x in an attribute;\n  or differentiate a function f that "
            'makes one as cr.primitive(f, derivative="finite-difference")'
        )
    under = inspect.unwrap(called) if callable(called) else called
    if type(under).__name__ in OF_CYTHON:
        return _rule_for(ast.unparse(node.func), under.__name__)
    name, home = getattr(called, "__name__", ""), getattr(called, "__module__", None) or ""
    library, _, rest = home.partition(".")
    if called in (float, complex):
        return _remedy("leave it as it is: x", names, "math")
    if library in ("math", "cmath"):
        name = _OTHER_NAMES.get(name, name)
        known = hasattr(np, name) or name == "linalg.norm"
        return _remedy(f"write np.{name}" if known else "", names, "math")
    through = _called_through(node, frame) if library in ("numpy", "scipy", "math") else ""
    if through:
        return f'cr.adopt("{through}"), beside your own module: it is called by a name of that'
    if library == "numpy":
        joins = name in ("array", "asarray", "asanyarray", "ascontiguousarray")
        by_hand = "write np.stack([x, y]) or cr.array([x, y])" if joins else ""
        if any(isinstance(part, ast.List | ast.Tuple | ast.Name) for part in node.args[:1]):
            by_hand = by_hand or "give it np.stack([x, y]) in place of a list"
        return _remedy(by_hand, names, "numpy")
    if library == "scipy":
        family = rest.partition(".")[0]
        shown = vars(imported(f"chainrules.scipy.{family}")) if family in FAMILIES else ()
        cls, _, _ = getattr(called, "__qualname__", "").rpartition(".")
        if cls and family == "integrate":
            return f"write scipy.integrate.solve_ivp in place of what {cls} does"
        if name in shown or cls:
            return of_scipy(f"scipy.{family}.{name}", names)
        return _rule_for(ast.unparse(node.func), name)
    if library == "statistics":
        return f"write {OF_STATISTICS}"
    if isinstance(called, BuiltinFunctionType) and library and library != "builtins":
        return _rule_for(ast.unparse(node.func), name)
    return None


def _number_class(node: ast.Call, called: Any, frame: FrameType) -> Any:
    """Return the class, derived from one of Python's numbers, that a call makes an object of."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "__new__" and node.args:
        called = _resolved(node.args[0], frame)  # float.__new__(cls, x)
    own = isinstance(called, type) and issubclass(called, (float, int, complex))
    return called if own and library_of(called) not in ("builtins", "numpy") else None


def _called_through(node: ast.Call, frame: FrameType) -> str:
    """Return the package of a module by whose name a function is called, if it shows another's."""
    if not isinstance(node.func, ast.Attribute):
        return ""
    owner = _resolved(node.func.value, frame)
    package = owner.__name__.partition(".")[0] if isinstance(owner, ModuleType) else ""
    known = ("numpy", "scipy", "math", "cmath", "builtins", "chainrules")
    return "" if package in known or package == _package_of(frame.f_globals) else package


def or_adopt(instead: str) -> str:
    """Return what to write, after the adoption of the user's module, if that was not done."""
    frame = user_frame()
    if frame is None or id(frame.f_globals) in adopted:
        return instead
    package = _package_of(frame.f_globals)
    inside = next(filter(INSTEAD_OF_ADOPTION.__contains__, _packages_above(frame)), package)
    if inside in INSTEAD_OF_ADOPTION:
        return f"{INSTEAD_OF_ADOPTION[inside]}; or\n  {instead}"
    return f"{_adoption(frame.f_globals)} be differentiated as it stands; or\n  {instead}"


def _packages_above(frame: FrameType) -> Iterator[str]:
    """Yield the packages of the frames that ``frame`` called, the innermost first."""
    called: FrameType | None = sys._getframe(2)
    while called is not None and called is not frame:
        yield _package_of(called.f_globals)
        called = called.f_back


def of_scipy(public: str, names: dict) -> str:
    """Return what to write in place of a function of SciPy, in the module with these globals."""
    _, family, *rest = public.split(".")
    name = rest[-1] if rest else family
    if family == "linalg" and hasattr(np.linalg, name):
        return _remedy(f"write np.linalg.{name}", names, "scipy")
    if family in FAMILIES:
        return _remedy("", names, "scipy")
    return _rule_for(public, name)


def _under_way(frame: FrameType) -> str | None:
    """Return the source of the expression that the instruction under way belongs to."""
    places = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    line, end_line, begin, end = next(iter(places), (None,) * 4)
    if line is None or end_line is None or begin is None or end is None:
        return None
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[line - 1 : end_line]
    if len(lines) != end_line - line + 1:
        return None
    encoded = [text.encode() for text in lines]
    encoded[-1] = encoded[-1][:end]
    encoded[0] = encoded[0][begin:]
    text = b" ".join(part.strip() for part in encoded).decode(errors="replace")
    return text if 0 < len(text) <= 2000 else None


def _resolved(node: ast.expr, frame: FrameType) -> Any:
    """Return the function that a name stands for; None where it takes more than names to tell."""
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if node.id in names:
                return names[node.id]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner = _resolved(node.value, frame)
        return owner.get(node.slice.value) if type(owner) is dict else None
    if isinstance(node, ast.Attribute):
        owner = _resolved(node.value, frame)
        plain = isinstance(owner, ModuleType) or type(owner).__module__.startswith("scipy.")
        return getattr(owner, node.attr, None) if plain else _method(owner, node.attr)
    return None


def _method(owner: object, name: str) -> Any:
    """Return the method that ``owner`` has from a class of SciPy's, without asking it."""
    for cls in type(owner).__mro__:
        if name in vars(cls):
            return vars(cls)[name] if cls.__module__.startswith("scipy.") else None
    return None


def _remedy(by_hand: str, names: dict, library: str) -> str:
    """Return what to write by hand, or the adoption of the module, if that was not done."""
    package = _package_of(names)
    if package in INSTEAD_OF_ADOPTION:
        return INSTEAD_OF_ADOPTION[package]
    late = [name for name, x in names.items() if isinstance(x, ModuleType) and _is_plain(x)]
    if id(names) in adopted and late:
        said = "was" if len(late) == 1 else "were"
        lines = f"write cr.adopt() below the imports: {', '.join(late)} {said} imported after it"
    elif id(names) in adopted:
        lines = (
            f"import {library} at the top of the module and call it from there: what was "
            "put into a dict or an object\n  after the adoption is not adopted, nor what a "
            "function imports that was defined later"
        )
    else:
        lines = f"{_adoption(names)} be differentiated as it stands"
    return f"{by_hand}; or\n  {lines}" if by_hand else lines


def _is_plain(module: ModuleType) -> bool:
    """Say whether it is NumPy's or SciPy's module, and not what an adopted one has in its place."""
    is_theirs = module.__name__.partition(".")[0] in ("numpy", "scipy")
    return is_theirs and sys.modules.get(module.__name__) is module


def _package_of(names: dict) -> str:
    return str(names.get("__name__", "")).partition(".")[0]


def adoption(names: dict | None = None) -> str:
    """Return how to adopt the user's module, before another remedy; "" where it is adopted.

    The module is that of the user's line under way, or that with these globals.
    """
    if names is None:
        names = {} if (frame := user_frame()) is None else frame.f_globals
    if not names or id(names) in adopted:
        return ""
    return f"{_adoption(names)} be differentiated as it stands; or\n  "


def _adoption(names: dict) -> str:
    """Return what adopts the module with these globals, or the package that it is in."""
    name = names.get("__name__", "")
    known = sys.modules.get(name)
    if not name or (known is not None and vars(known) is not names):  # by exec, in no module
        return "cr.adopt(f), where f is the function of that line, lets it"
    if name == "__main__":
        return "cr.adopt() lets all of that module"
    package, _, inside = name.partition(".")
    return f'cr.adopt("{package}") lets all of that {"package" if inside else "module"}'


def _rule_for(public: str, name: str) -> str:
    return (
        f"give it a rule, and call that:\n"
        f"    {name} = cr.primitive({public})\n"
        f"    @cr.rrule.register({name})\n"
        f"    def {name}_rrule({name}, x): ...  # return y, pullback"
    )
