"""Classes of errors, one for each way to fail; each is also the builtin that a caller would catch.

``except cr.MissingRuleError`` catches a call of a function without a rule, and so does ``except
NotImplementedError``. Each class has a code, and more precise ones stand in the table of refusals.
Below its message an error shows its code, with the address of the page that explains it. That page
is made of the docstring here: the cause, and then the remedy.
"""

from typing import ClassVar, TypeVar

__all__ = [
    "ArgumentTypeError", "ArgumentValueError", "BatchError", "BatchWarning", "ChainRulesError",
    "CompileError", "CompileWarning", "ContainerError", "ConvergenceWarning",
    "EntrywiseWarning", "EscapedTraceError", "ExchangeError", "InaccurateDerivativeError",
    "IndependentOutputWarning", "LostDataError", "LostDerivativeError",
    "MissingDerivativeError", "MissingPackageError", "MissingRuleError", "MutationError",
    "NoSolutionError", "RuleError", "RuleNeverAskedWarning", "RuleReplacedWarning",
    "RulesNotLoadedWarning", "SingularJacobianError", "TangentError", "UnknownNameError",
]  # fmt: skip

E = TypeVar("E", bound=Exception)
PAGES = "https://chainrules-py.readthedocs.io/en/latest/docs/generated/errors"


def page_of(code: str) -> str:
    """Return the line below the message of an error: its code, and where it is explained."""
    return f"[{code}] {PAGES}/{code}.html"


def with_code(error: E, code: str) -> E:
    """Return the error with this code, in place of that of its class."""
    error.code = code  # type: ignore[attr-defined]
    error.__notes__ = [page_of(code)]
    return error


class ChainRulesError(Exception):
    """Base class of the errors that name a rule, a tangent or a traced value."""

    code: ClassVar[str] = ""  # of errors that reach no user

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        if self.code:
            self.add_note(page_of(self.code))


class CodedWarning(UserWarning):
    """Base class of the warnings, which say their code in their text."""

    code: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{super().__str__()}\n  {page_of(self.code)}"


class MissingRuleError(ChainRulesError, NotImplementedError):
    """A function that depends on a traced value has no rule in the mode that was asked for.

    Add one with ``@cr.frule.register(f)`` or ``@cr.rrule.register(f)``; or, where the
    function is constant, say ``cr.non_differentiable(f)``.
    """

    code = "CR001"


class TangentError(ChainRulesError, ValueError):
    """A tangent or a cotangent does not fit the value that it belongs to.

    Give one with the shape, dtype and structure of that value; for a zero, ``cr.zero_tangent(x)``.
    """

    code = "CR002"


class RuleError(ChainRulesError, TypeError):
    """A rule broke its contract: its signature, or what it returned.

    Write the rule as the message says: an frule returns ``(y, ydot)``, an rrule ``(y,
    pullback)``, a pullback one cotangent for the function and one for each argument.
    """

    code = "CR003"


class EscapedTraceError(ChainRulesError, RuntimeError):
    """A traced value was used after the transform that made it had ended.

    Return what you need from the differentiated function; keep ``cr.value(x)`` elsewhere.
    """

    code = "CR004"


class LostDerivativeError(ChainRulesError, TypeError):
    """A traced value was about to be turned into a plain number, and its derivative lost.

    Write what the message says instead; or ``cr.value(x)``, if you do not want a derivative there.
    """

    code = "CR005"


class LostDataError(ChainRulesError, RuntimeError):
    """A worker of an executor was lost, with data that cannot be computed again.

    Call the function once more, after a pool is lost with a new executor.
    """

    code = "CR006"


class MutationError(ChainRulesError, TypeError):
    """A write of a traced value would lose its derivative, or would not be seen elsewhere.

    Write into a copy, or make a new array with ``np.where``, ``np.stack`` or
    ``np.concatenate``.
    """

    code = "CR007"


class MissingDerivativeError(ChainRulesError, NotImplementedError):
    """A partial derivative marked ``not_implemented`` would have reached a result.

    Write the partial derivative; or stop the derivative there, with ``cr.stop_gradient``.
    """

    code = "CR008"


class InaccurateDerivativeError(ChainRulesError, ArithmeticError):
    """A derivative by finite differences, or by a complex step, is not accurate enough.

    Give the derivative, with ``cr.primitive(jac=...)`` or a rule; or a larger ``tolerance``,
    if the function is noisy.
    """

    code = "CR009"


class SingularJacobianError(ChainRulesError, ArithmeticError):
    """The solution of the equations has no derivative: their Jacobian is singular there.

    Look for a redundant equation, for an unknown that is in none of them, or for a double root.
    """

    code = "CR010"


class ArgumentTypeError(ChainRulesError, TypeError):
    """An argument of a function of chainrules is of a type that the function does not take.

    Give what the message says; the page of the function says what each argument may be.
    """

    code = "CR013"


class ArgumentValueError(ChainRulesError, ValueError):
    """An argument of a function of chainrules has a value, or a size, that the function cannot use.

    Give a value that the message names; the page of the function describes each argument.
    """

    code = "CR014"


class MissingPackageError(ChainRulesError, ModuleNotFoundError):
    """A package that this function needs is not installed.

    Install the extra that the message names, as ``pip install "chainrules[scipy]"``; ``python -m
    chainrules doctor`` says what is there.
    """

    code = "CR015"

    def __init__(self, message: str, name: str | None = None) -> None:
        super().__init__(message)
        self.name = name


class NoSolutionError(ChainRulesError, RuntimeError):
    """A solver of SciPy found no solution that could be differentiated.

    Call the solver without a derivative and read its message; try another start, method or
    tolerance.
    """

    code = "CR016"


class UnknownNameError(ChainRulesError, AttributeError):
    """A name of another library, or an unknown name, was looked up in chainrules.

    Write what the message says instead.
    """

    code = "CR017"

    def __init__(self, message: str, name: str | None = None, obj: object = None) -> None:
        super().__init__(message)
        self.name, self.obj = name, obj


class ExchangeError(ChainRulesError, TypeError):
    """A value cannot be passed between NumPy and another library.

    Convert it as the message says, to a dtype, a device or a container that both libraries have.
    """

    code = "CR018"


class ContainerError(ChainRulesError, TypeError):
    """An object that holds numbers cannot be flattened, or rebuilt with other numbers.

    Register its class with ``cr.register_container``, which says how to do both.
    """

    code = "CR019"


class ConvergenceWarning(CodedWarning):
    """An iteration stopped before its answer was good enough to be differentiated.

    Iterate longer, or to a smaller tolerance: the derivative is only as accurate as the answer.
    """

    code = "CR021"


class IndependentOutputWarning(CodedWarning):
    """A gradient is zero because the result of the function does not depend on its input.

    Print ``cr.explain(f, x)``, which shows the operations, and which of them are constant.
    """

    code = "CR022"


class RuleNeverAskedWarning(CodedWarning):
    """A rule was registered for a function whose calls inside of other functions do not use it.

    Decorate the function with ``cr.primitive``, and register the rule for what that returns.
    """

    code = "CR023"


class RulesNotLoadedWarning(CodedWarning):
    """The rules of an installed package could not be loaded, or took long to load.

    Update the package, or report the error that the message shows to its authors.
    """

    code = "CR024"


class RuleReplacedWarning(CodedWarning):
    """A rule replaced one that another module had registered.

    Register the rule only once; if you mean to replace it, filter the warning.
    """

    code = "CR025"


class CompileError(ChainRulesError, RuntimeError):
    """A function cannot be compiled, because it has side effects or reads hidden state.

    Return all results, pass what the function reads as arguments, and draw random numbers outside.
    """

    code = "CR011"


class CompileWarning(CodedWarning):
    """A compiled function runs uncompiled, or differs from its recording; the message says why.

    Write what the message says instead; ``cr.explain(compiled)`` says more.
    """

    code = "CR026"


class BatchError(ChainRulesError, ValueError):
    """A function cannot run on a batch, or its results do not fit into one array.

    Write what the message says instead, or call the function in a loop over the items.
    """

    code = "CR012"


class BatchWarning(CodedWarning):
    """The items of a batch run one after another; the message says why.

    Write what the message says instead; or filter the warning, if the time does not matter.
    """

    code = "CR027"


class EntrywiseWarning(CodedWarning):
    """A large traced array became an object array, on which NumPy computes number by number.

    Adopt the module that asks for it, or leave the conversion out.
    """

    code = "CR028"
