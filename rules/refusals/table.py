"""Table of refusals: the errors that a trace raises, each with its cause and its remedy.

``refusal("write into shared memory")`` builds an error whose message is the cause, with the user's
line in it, and below it what to write instead. The table is read by a test, which provokes each.
"""

from typing import Any

from ...config import (
    EscapedTraceError,
    LostDerivativeError,
    MissingRuleError,
    MutationError,
    user_line,
)
from ...config.errors import with_code
from .rows import Refusal
from .usage import USAGE


class OwnClassError(LostDerivativeError):
    """An array of a class of its own, such as a masked one, with or beside traced numbers."""


def refusal(name: str, /, **fields: object) -> Any:
    """Build the error of the table's row ``name``; the caller raises it."""
    row = REFUSALS[name]
    if "line" not in fields and "{line}" in row.cause:
        fields["line"] = user_line()
    error = row.error(f"{row.cause.format(**fields)}\n  {row.remedy.format(**fields)}")
    return with_code(error, row.code)


REFUSALS = {
    **USAGE,
    # ---- a plain number is asked for ----
    "plain number": Refusal(
        "CR101",
        LostDerivativeError,
        "{what} needs a plain number, and would drop the derivative of a traced {x} in {line}.",
        "{instead}\n  or write cr.value(x), where no derivative is wanted",
    ),
    "hidden error": Refusal(
        "CR102",
        LostDerivativeError,
        "something hid this error, and went on: {error}",
        "(if a debugger or a view of variables did: with cr.debug(): ...)",
    ),
    # ---- numbers that cr.debug stops at ----
    "bad number": Refusal(
        "CR103",
        FloatingPointError,
        "{name} gives {number}{at}, in {line}{cause}.",
        "look at what it was called with there; with cr.debug() of nothing the program goes on",
    ),
    "bad tangent": Refusal(
        "CR104",
        FloatingPointError,
        "the tangent of {name} is {number}{at}, in {line}; those of its arguments have none.",
        "its slope is infinite or undefined there: np.where(x > 0, x, 1.0) inside the function "
        "keeps a branch that is not taken away from such a place",
    ),
    "bad cotangent": Refusal(
        "CR105",
        FloatingPointError,
        "the pullback of {name} gives {number}{at}, in {line}{cause}.{before}",
        "np.where(x > 0, x, 1.0) inside the function keeps a branch that is not taken away from a "
        "place where its slope is infinite or undefined",
    ),
    "zero cotangent": Refusal(
        "CR106",
        FloatingPointError,
        "the pullback of {name} gives zeros alone, in {line}: its slope is 0 there.",
        "no derivative comes from there; with cr.debug(zero=False) the program goes on",
    ),
    "text of a traced value": Refusal(
        "CR107",
        LostDerivativeError,
        "text was read as a number, and the text was that of a traced value: {message}.",
        "keep the traced value itself; or write cr.value(x) into the text, where no derivative is "
        "wanted",
    ),
    "two precisions in a list": Refusal(
        "CR108",
        LostDerivativeError,
        "NumPy compares traced numbers of {kinds} in a list one by one, in {line}, and would not "
        "give the result the dtype of both.",
        "{instead}",
    ),
    "met by other code": Refusal(
        "CR109", LostDerivativeError, "{called} met {met}, in {line}: {message}.", "{instead}"
    ),
    "attribute": Refusal(
        "CR110",
        AttributeError,
        "x.{name} of a traced {x} cannot be followed, in {line}.",
        "{instead}",
    ),
    "value of an ended transform": Refusal(
        "CR111",
        EscapedTraceError,
        "a traced value was used in {line} after the transform that made it (grad, jvp, ...) had "
        "ended.",
        "return what you need from the differentiated function; keep cr.value(x) elsewhere",
    ),
    # ---- calls ----
    "captured by an argument": Refusal(
        "CR112",
        LostDerivativeError,
        "{name} was called with a function that captures a traced value, in {line}; no argument "
        "is traced, so that no rule was asked.",
        "pass the value to {name} as an argument, and from there to the function",
    ),
    "inner value captured": Refusal(
        "CR113",
        LostDerivativeError,
        "{name} was called with a function that captures values of an inner transform, in {line}.",
        "pass those values as arguments",
    ),
    "traced option": Refusal(
        "CR114",
        LostDerivativeError,
        "{name} has no derivative in its option {option!r}, which depends on a differentiated "
        "input in {line}.",
        "write {option}=cr.value(...), where no derivative is wanted",
    ),
    "objects for dtype": Refusal(
        "CR115",
        MissingRuleError,
        "{name} with dtype=object has no rule.",
        "leave out dtype, or name a float",
    ),
    "dtype of no numbers": Refusal(
        "CR150",
        LostDerivativeError,
        "a conversion of a traced value to {dtype} has no derivative, in {line}: it is no dtype of "
        "numbers.",
        "keep the numbers beside it, named fields as arrays by name: dict(m=x, v=y)\n"
        "  or write cr.value(x), where no derivative is wanted",
    ),
    "numbers in a file": Refusal(
        "CR151",
        LostDerivativeError,
        "{name} writes a traced value into a file, in {line}: what leaves the process by bytes has "
        "no derivative when it is read again.",
        "keep the traced value itself; or write cr.value(x) into the file, where no derivative is "
        "wanted",
    ),
    # ---- objects, classes, containers ----
    "nested objects": Refusal(
        "CR116",
        OwnClassError,
        "an array of objects that are arrays cannot be followed with traced numbers, in {line}.",
        "make it a list; or one array: np.stack, np.concatenate",
    ),
    "objects from a call": Refusal(
        "CR117",
        LostDerivativeError,
        "{name} of a traced value and an array of dtype object gave objects, which have no "
        "derivative, in {line}.",
        "make it an array of numbers: a.astype(float)",
    ),
    "traced value hidden": Refusal(
        "CR118",
        LostDerivativeError,
        "the result holds a traced value in {cls}, which is no container: nobody would find the "
        "derivative.",
        "return the number or the array in it, or say what it holds: cr.register_container",
    ),
    "answers itself": Refusal(
        "CR119",
        LostDerivativeError,
        "{f} was given a {cls}, in {line}, whose class says itself what functions of NumPy mean to "
        "it, and was not asked.",
        "give the number or the array in it: np.asarray(q), q.magnitude, q.value",
    ),
    "older pandas": Refusal(
        "CR120",
        LostDerivativeError,
        "a {cls} of pandas {found} takes no traced values, in {line}: those since {oldest}.0 do.",
        "take the numbers out, s.to_numpy(), and go on with NumPy's functions; or install a newer "
        "pandas",
    ),
    "statistic of a column": Refusal(
        "CR121",
        LostDerivativeError,
        "{name} of a column that holds a traced array has no rule, in {line}.",
        "take the numbers out, s.to_numpy(), and write it in NumPy's functions",
    ),
    "write into a column": Refusal(
        "CR123",
        LostDerivativeError,
        "np.{f} cannot write into a column of pandas with out=, in {line}.",
        "assign what it returns: df['a'] = np.{f}(...)",
    ),
    "derivative of another class": Refusal(
        "CR124",
        LostDerivativeError,
        "the derivative of a {x} came as a {cls}, which may have units or more that a {x} has not.",
        "compute with the number or the array in it, np.asarray(q) or q.magnitude; or with q first",
    ),
    "foreign array": Refusal(
        "CR126",
        LostDerivativeError,
        "an array of type {cls} cannot be differentiated: it has neither __array_ufunc__ nor "
        "__array_function__, so that nobody sees what is computed with it.",
        "give NumPy's array instead: np.asarray(x){importing}",
    ),
    "stand-in for a number": Refusal(
        "CR127",
        LostDerivativeError,
        "a {cls} passes for a number or an array, by attributes that it passes on, and cannot be "
        "differentiated.",
        "give the number or the array that it stands for",
    ),
    "own class": Refusal(
        "CR128",
        OwnClassError,
        "an array of class {cls} {what} cannot be followed here, in {line}.",
        "write {instead}: an array of NumPy's own class",
    ),
    "array of an own class": Refusal(
        "CR129",
        LostDerivativeError,
        "an array of class {cls} and dtype {dtype} cannot be differentiated: its entries are no "
        "numbers.",
        "give an array of numbers; of named fields a dict of the fields",
    ),
    "rebuild computes": Refusal(
        "CR130",
        LostDerivativeError,
        "the rebuild of {cls} computes with the parts that it puts in, in {line}.",
        "let it put them in as they are",
    ),
    "rebuild replaces": Refusal(
        "CR131",
        LostDerivativeError,
        "the rebuild of {cls} gave one whose part {name!r} is not what was put in, in {line}.",
        "let rebuild put in what it is given, and parts return that very object",
    ),
    "data that a copy drops": Refusal(
        "CR132",
        LostDerivativeError,
        "a {cls} of xarray does not keep the traced data that its copy(data=...) is given, in "
        "{line}.",
        "let copy(data=...) of the class put them in as they are",
    ),
    "traced coordinate": Refusal(
        "CR133",
        LostDerivativeError,
        "the coordinate {name!r} of a {cls} holds a traced array, in {line}, and coordinates are "
        "constants.",
        "make it a variable: ds.reset_coords({name!r}), or drop it",
    ),
    # ---- writes ----
    "inner value written": Refusal(
        "CR134",
        MutationError,
        "a value of an inner transform would be written into an array of an outer one in {line}.",
        "make the array inside the inner function, and return it",
    ),
    "truncating write": Refusal(
        "CR135",
        MutationError,
        "an array of dtype {dtype} would truncate a traced number that is written into it in "
        "{line}.",
        "make it an array of floats: np.zeros_like(x, dtype=float)",
    ),
    "write into shared memory": Refusal(
        "CR136",
        MutationError,
        "a write in {line} goes into an array whose memory is seen elsewhere, as another argument, "
        "or by what np.asarray(x) made of it, and would not be seen there.",
        "write into a copy (x = x.copy()); np.asarray of chainrules.numpy gives x itself",
    ),
    "swap of views": Refusal(
        "CR137",
        MutationError,
        "two parts of a traced array are swapped through views in {line}: x[i], x[j] = x[j], x[i] "
        "makes both equal, and so does rng.shuffle(x).",
        "write x[[i, j]] = x[[j, i]], or x[...] = x[rng.permutation(len(x))]; or swap copies",
    ),
    "flat written with its view": Refusal(
        "CR138",
        MutationError,
        "x.flat, x[mask] and a diagonal are written entry by entry, and what is written is a view "
        "of the same array, in {line}.",
        "write a copy: v.copy()",
    ),
    "in-place dtype": Refusal(
        "CR139",
        MutationError,
        "an in-place operator in {line} gives {y}, which an array of dtype {dtype} cannot hold.",
        "write x = x + ... instead of x += ...",
    ),
    "in-place class": Refusal(
        "CR140",
        MutationError,
        "an in-place operator in {line} would write what a {cls} makes of it into an array of "
        "numbers.",
        "write x = x + q instead of x += q",
    ),
    "set shape": Refusal(
        "CR141",
        MutationError,
        "the shape of a traced {x} that has views, or is not contiguous, cannot be set in {line}.",
        "write x = np.reshape(x, ...)",
    ),
    "set attribute": Refusal(
        "CR142", MutationError, "{what} is not possible on a traced {x}, in {line}.", "{instead}"
    ),
    "out is plain": Refusal(
        "CR143",
        MutationError,
        "{name}(..., out=...), or an in-place operator, would write a traced result into a plain "
        "array, which has no room for a derivative, in {line}.",
        "{made}use the result instead: y = np.{name}(...), or a = a {operator} x instead of "
        "a {operator}= x; or make the array a traced one: np.zeros_like(x), or in an adopted "
        "module a = np.copy(a)\n"
        "  one that is given, or kept in an object (self.a += x), is made inside the "
        "differentiated function by chainrules.numpy: cr.numpy.array(a)",
    ),
    "shown array written by at": Refusal(
        "CR144",
        MutationError,
        "the array that np.asarray, or a function that calls it, made of a traced one in {line} "
        "was written to, by ufunc.at, and the traced one would not show it.",
        "write into the traced array itself, np.add.at(x, ...), or into a copy (x.copy())",
    ),
    "shown array written": Refusal(
        "CR145",
        MutationError,
        "{message}: what NumPy made of a traced array by np.asarray, or by a call that does the "
        "same, cannot be written to.",
        "write into the traced array itself, or into a copy (np.array(x)); np.asarray of "
        "chainrules.numpy gives the traced array",
    ),
    "write into objects": Refusal(
        "CR146",
        MutationError,
        "{name} would write into an object array of traced numbers, such as np.asarray makes of a "
        "traced array, in {line}.",
        "write into the traced array itself, or into a copy (x.copy())",
    ),
    "captured array changed": Refusal(
        "CR147",
        MutationError,
        "a plain array, {x}, was used in {line} and has been changed since, so the derivative "
        "would be wrong.",
        "use a copy there (c.copy()), or write the changes into another array",
    ),
    "variable outside changed": Refusal(
        "CR153",
        MutationError,
        "{name} is read by a function that was called in {line}, and holds something else by now, "
        "so that the function, evaluated again for its derivative, would be another one.",
        "pass it as an argument (args=...), or let the function capture it as a local variable",
    ),
    "plain buffer seen elsewhere": Refusal(
        "CR148",
        MutationError,
        "a traced value would be written into a plain array that others may see, in {line}.",
        "make it anew before it is written to, or make it a traced one: np.zeros(n, like=x)",
    ),
    "buffer filled again": Refusal(
        "CR149",
        EscapedTraceError,
        "an array that is made outside of a function, and filled by it, is filled once more in "
        "{line}: the function is evaluated again for its derivative, and what the array held "
        "belongs to the evaluation before.",
        "make the array inside the function",
    ),
    "quantity": Refusal(
        "CR152",
        LostDerivativeError,
        "{what}, of a {cls} with a traced magnitude, cannot be followed in {line}.",
        "write {instead}",
    ),
}
