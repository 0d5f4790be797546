"""Each error that a user can meet has a code: what is raised is read from the source.

A raise of a builtin class is the exception, and stands below with the reason.
"""

import ast
import builtins
import functools
from pathlib import Path

import chainrules
from chainrules import testing
from chainrules.config import errors

TOP = Path(chainrules.__file__).parent
CODED = {
    name
    for name, x in [*vars(errors).items(), *vars(testing.errors).items()]
    if isinstance(x, type) and getattr(x, "code", "")
}
# What another part of the package catches.
CAUGHT = {
    "Looked", "NotLowered", "NotRealError", "NotRecordable", "OneByOne", "Split", "Stopped",
    "TooLargeBlock", "TooLongError", "UnsuitedLoopError", "_Stop", "_TooManyCallsError",
}  # fmt: skip
# Classes of NumPy.
OTHERS = {"np.linalg.LinAlgError", "np.exceptions.AxisError"}
# What says what NumPy, SciPy or Python say in the same place, by the file or its folder.
AS_THE_ORIGINAL = {
    "rules/rulesets/arrays": "NumPy's functions",
    "rules/rulesets/linalg": "NumPy's functions",
    "rules/rulesets/functions/vectorized.py": "NumPy's functions",
    "rules/rulesets/scipy": "SciPy's functions and objects",
    "rules/tracing": "NumPy's arrays and numbers",
    "batching/batched.py": "NumPy's arrays",
    "interop/pandas/column.py": "extension arrays of pandas",
    "interop/autograd": "autograd's modules and functions",
}
# What nobody meets who does not write to the package itself.
INSIDE = {
    "_named.py": "the command line, which prints it",
    "compiling/native": "an invariant: the recorder asks for what there is",
}
# What Python asks for where a name or a key is not there, and what our own invariants raise.
PROTOCOL = {"AttributeError", "KeyError", "AssertionError"}


@functools.cache
def raised():
    """List the file, the class and the call of each raise."""
    rooms = [TOP, *(TOP / name for name in ("config", "rules", "forward", "reverse"))]
    return list(raises_in(rooms))


def raises_in(rooms):
    """Yield the raises in folders."""
    for path in {path for room in rooms for path in room.rglob("*.py")}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                call = node.exc
                name = ast.unparse(call.func if isinstance(call, ast.Call) else call)
                yield path.relative_to(TOP).as_posix(), name, call


def is_protocol(name, call):
    """Say whether it is what Python asks for: ``AttributeError(...)``, a bare class, a name."""
    if name in PROTOCOL:
        return True
    args = call.args if isinstance(call, ast.Call) else []
    return not args or (len(args) == 1 and isinstance(args[0], ast.Name))


def test_each_class_that_is_raised_has_a_code_or_stays_inside():
    names = {name for _, name, _ in raised()}
    classes = {name for name in names if name.rpartition(".")[2].lstrip("_")[:1].isupper()}
    assert CAUGHT | OTHERS <= classes
    assert set() == {x for x in classes - CODED - CAUGHT - OTHERS if not hasattr(builtins, x)}


def test_builtins_are_raised_where_the_original_does():
    allowed = tuple({**AS_THE_ORIGINAL, **INSIDE})
    found = {
        f"{path}: {ast.unparse(call)[:90]}"
        for path, name, call in raised()
        if hasattr(builtins, name) and not is_protocol(name, call) and not path.startswith(allowed)
    }
    assert set() == found


def test_no_exception_is_left_over():
    builtin = {
        path
        for path, name, call in raised()
        if hasattr(builtins, name) and not is_protocol(name, call)
    }
    for place in {**AS_THE_ORIGINAL, **INSIDE}:
        assert any(path.startswith(place) for path in builtin), place


def test_each_missing_rule_names_the_line_of_the_user():
    texts = [
        (path, ast.unparse(call))
        for path, name, call in raised()
        if name == "MissingRuleError" and path.startswith("rules/rulesets/")
    ]
    assert len(texts) > 50
    assert [] == [(path, text) for path, text in texts if "line" not in text]
