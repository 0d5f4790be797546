"""Wrong programs, each with the message that its author sees: what, where, what to write."""

import array
import cmath
import contextlib
import copy
import ctypes
import ctypes.util
import decimal
import json
import logging
import math
import pickle
import statistics
import sys
import types

import numpy as np
import pytest

import chainrules as cr

X = np.array([1.0, 2.0, 3.0])
TOTAL = np.sum


def raises(error, *parts):
    """Expect ``error`` with every part in its message."""

    class Expect:
        def __enter__(self):
            self.context = pytest.raises(error)
            self.caught = self.context.__enter__()

        def __exit__(self, *problem):
            handled = self.context.__exit__(*problem)
            text = str(self.caught.value)
            for part in parts:
                assert part in text, text
            return handled

    return Expect()


# ---- derivatives that would be lost ----------------------------------------------------------


@pytest.mark.parametrize("transform", [cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (1.0,))])
@pytest.mark.parametrize(
    ("program", "what", "remedy"),
    [
        (lambda x: float(x), "float(x)", "leave it as it is: x"),
        (lambda x: math.sin(x), "math.sin(x)", "np.sin"),
        (lambda x: int(x) * 1.0, "int(x)", "cr.value(x)"),
        (lambda x: abs(complex(x)), "complex(x)", "cr.value(x)"),
        (lambda x: range(x), "an index or a size", "integers"),
        (lambda x: np.float64(x), "a traced float", "cr.value(x)"),
        (lambda x: np.array([x, 1.0], dtype=float)[0], "a traced float", "cr.value(x)"),
        (lambda x: np.asarray(x, dtype=float), "np.asarray", "np.stack"),
        (lambda x: np.array([x, 1.0]).astype(float)[0], "float(x)", "cr.value(x)"),
        (lambda x: np.array([x, 1.0], float)[0], "np.array([x, 1.0], float)", "cr.array([x, y])"),
        (lambda x: np.asarray([x], dtype=float), "a traced float", "cr.array([x, y])"),
        (lambda x: np.arange(0.0, 3.0, x), "a traced float", "cr.adopt("),
        (lambda x: np.random.default_rng(0).normal(x), "a traced float", "a + b * rng.normal()"),
        (lambda x: np.random.default_rng(0).uniform(0.0, x, 3), "a traced float", "cr.value(x)"),
        (lambda x: np.complex128(x), "would drop the derivative", "cr.value(x)"),
        (lambda x: math.isclose(x, 1.5), "math.isclose(x, 1.5)", "cr.value(x)"),
        (lambda x: cmath.exp(x), "cmath.exp(x)", "np.exp"),
        (lambda x: statistics.fmean([x, x]), "statistics.fmean([x, x])", "write np.mean(x)"),
        (lambda x: pickle.dumps(x), "pickling", "what the differentiated function returns"),
        (lambda x: (x * np.float64(1)).tobytes(), "x.tobytes()", "keep the traced value"),
        (lambda x: array.array("d", [x]), "float(x)", "cr.value(x)"),
    ],
)
def test_ways_out_of_tracing(transform, program, what, remedy):
    with raises(cr.LostDerivativeError, what, remedy, "test_errors.py"):
        transform(program)(1.5)


@pytest.mark.parametrize("run", [cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (1.0,))])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: "%d" % x,  # noqa: UP031
        lambda x: json.dumps({"x": x}),
        lambda x: statistics.mean([x, x]),
        lambda x: decimal.Decimal(x),
        lambda x: memoryview(x),
        lambda x: np.zeros(2).flat.__setitem__(0, x),
    ],
)
def test_code_that_hides_our_message_does_so_no_longer(run, program):
    with pytest.raises(
        cr.LostDerivativeError, match=r"cr\.value\(x\), where no derivative is want"
    ):
        run(program)(1.5)


def test_in_a_notebook_an_error_names_the_cell(monkeypatch):
    cells = {"/tmp/ipykernel_7/3513242628.py": ("Cell", "In[10]")}
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(format_code_name=cells.get))
    notebook = types.SimpleNamespace(get_ipython=lambda: shell)
    program = "import math\ndef loss(x): return math.sin(x)\ndef rule(f, x): pass"
    names = {"cr": cr, "__name__": "__main__"}
    exec(compile(program, *cells, "exec"), names)
    with raises(cr.LostDerivativeError, "of a traced float in 3513242628.py:2."):
        cr.grad(names["loss"])(1.0)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    with raises(cr.LostDerivativeError, "of a traced float in Cell In[10], line 2."):
        cr.grad(names["loss"])(1.0)
    erf = cr.primitive(math.erf)
    cr.rrule.register(erf)(names["rule"])
    assert "rule (Cell In[10], line 3)" in str(cr.which(cr.rrule, erf, 1.0))
    with raises(cr.MissingRuleError, "in test_errors.py:"):
        cr.grad(cr.primitive(math.gamma))(1.0)


@pytest.mark.parametrize("run", [cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (1.0,))])
def test_the_traceback_keeps_the_frames_of_the_program_and_of_the_library(run):
    def helper(x):
        buffer = np.zeros(1)
        buffer[0] = x  # NumPy hides our error behind one of its own
        return buffer[0]

    def through_a_library(x):
        return np.vectorize(helper, otypes=[float])(x)

    for program, frames in ((helper, {"helper"}), (through_a_library, {"_vectorize_call"})):
        with pytest.raises(cr.LostDerivativeError) as caught:
            run(lambda x, program=program: program(x))(1.5)
        assert frames <= {entry.name for entry in caught.traceback}


@pytest.mark.parametrize(
    ("expected", "program"),
    [
        (1.0, lambda x: np.positive(x * np.float64(1))[()]),
        (2.0, lambda x: np.sum((x * np.float64(1))[None] + (x * np.float64(1))[...])),
        (1.0, lambda x: np.sum((x * np.float64(1))[True, None])),
        (1.0, lambda x: x if hasattr(x, "real") and not hasattr(x, "sum") else 0.0),
        (1.0, lambda x: x if hasattr(x * np.float64(1), "sum") else 0.0),
        (1.0, lambda x: copy.deepcopy(x)),
        (3.0, lambda x: sorted([x * x, x, 1.0])[2]),
        (3.0, lambda x: max(x, x * x)),
        (1.0, lambda x: divmod(3 * x, 2)[1] - 2 * x),
        (4.0, lambda x: np.mean([x, x * x]) * 2),
        (1.0, lambda x: x if f"{x:.3f} {x}" == "traced(1.500) traced(1.5)" else 0.0),
        (1.0, lambda x: x if np.isclose(x, 1.5) and x in [1.5] else 0.0),
    ],
)
def test_ways_out_that_are_none(expected, program):
    assert cr.grad(program)(1.5) == pytest.approx(expected)
    assert cr.jvp(program, (1.5,), (1.0,))[1] == pytest.approx(expected)


def test_a_traced_number_is_not_iterable():
    # With __getitem__ alone Python would take it for a sequence without entries.
    for program in (lambda x: list(x), lambda x: sum(x), lambda x: x[0], lambda x: len(x)):
        with pytest.raises((TypeError, IndexError)):
            cr.grad(program)(1.5)


def test_a_container_that_holds_itself():
    class Node:
        def __init__(self, weight, parent=None):
            self.weight, self.parent = weight, parent

    tree = Node(2.0)
    tree.child = Node(3.0, tree)
    assert cr.grad(lambda x: x * tree.child.weight)(1.0) == 3.0
    entries = [1.0]
    entries.append(entries)
    for run, path in (
        (lambda: cr.grad(lambda t: t.weight)(tree), "Node.child.parent is the same Node again"),
        (lambda: cr.vjp(lambda x: (x, tree), 1.0), "Node.child.parent is the same Node again"),
        (lambda: cr.grad(lambda e: e[0])(entries), "list[1] is the same list again"),
    ):
        with raises(TypeError, "a container that holds itself", path, "weakref.ref"):
            run()


def test_a_recursion_of_the_users_stays_what_it_is():
    def endless(x):
        return endless(x * 1.0)

    with pytest.raises(RecursionError):
        cr.grad(endless)(1.0)


def test_writing_a_traced_number_into_a_plain_array():
    def program(x):
        buffer = np.zeros(3)
        buffer[0] = x
        return buffer[0]

    with raises(cr.LostDerivativeError, "would drop the derivative", "test_errors.py"):
        cr.grad(program)(1.0)


def test_lost_derivative_error_is_a_type_error():
    with pytest.raises(TypeError):
        cr.grad(lambda x: float(x))(1.0)


# ---- writes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (x,))])
@pytest.mark.parametrize(
    ("program", "what", "remedy"),
    [
        (lambda x: np.add(x, 1.0, out=np.zeros(3)), "add(..., out=...)", "use the result"),
        (lambda x: np.sum(x, out=np.zeros(())), "sum(..., out=...)", "np.zeros_like(x)"),
        (lambda x: np.copyto(np.zeros(3), x), "np.copyto", "np.zeros_like(x)"),
        (lambda x: np.full(3, x[0], float), "np.copyto", "np.zeros(shape, like=x)"),
        (lambda x: np.full_like(np.zeros(3), x), "np.copyto", "np.zeros_like(x)"),
        (lambda x: np.put(np.zeros(3), [0], x[0]), "np.put", "np.zeros(shape, like=x)"),
        (lambda x: np.add.at(np.zeros(3), [0], x[:1]), "add.at", "np.zeros_like(x)"),
        (lambda x: x.resize(6), "x.resize(...)", "np.resize(x, ...)"),
        (lambda x: x.__delitem__(0), "del x[index]", "np.delete(x, index)"),
        (lambda x: setattr(x, "dtype", np.float32), "x.dtype = ...", "x.astype(...)"),
        (lambda x: [x[1:], x.__setattr__("shape", (3, 1))], "has views", "np.reshape(x, ...)"),
    ],
)
def test_writes_that_cannot_be_followed(transform, program, what, remedy):
    with raises(cr.MutationError, what, remedy, "test_errors.py"):
        transform(program)(X)


def test_in_place_addition_to_a_plain_array():
    def program(x):
        total = np.zeros(3)
        alias = total
        total += x
        return np.sum(alias)

    with raises(cr.MutationError, "plain array", "a = a + x instead of a += x"):
        cr.grad(program)(X)
    with raises(cr.MutationError, "multiply(..., out=...)", "a = a * x instead of a *= x"):
        cr.grad(lambda x, a: a.__imul__(x))(X, np.ones(3))
    for a in (np.ones(3), np.ones((3, 3))):
        with raises(cr.MutationError, "plain array", "a = a @ x instead of a @= x"):
            cr.jacfwd(lambda x, a: a.__imatmul__(x))(np.eye(3), a)


def test_an_integer_array_cannot_hold_a_traced_number():
    def program(x):
        counts = x.astype(int) * 2
        total = np.zeros_like(x, dtype=int)
        total[0] = x[0]
        return counts

    with raises(cr.LostDerivativeError, "would drop the derivative", "test_errors.py"):
        cr.grad(program)(X)
    with raises(cr.MutationError, "dtype int64 would truncate", "dtype=float"):
        cr.grad(lambda n: n.__setitem__(0, n[0] * 0.5))(np.arange(3))


def test_a_value_of_an_inner_transform_is_not_written_into_an_outer_array():
    def outer(x):
        kept = np.zeros_like(x)

        def inner(y):
            kept[0] = y
            return y * y

        return cr.grad(inner)(x[0]) + kept[0]

    with raises(cr.MutationError, "inner transform", "test_errors.py"):
        cr.grad(outer)(X)


# ---- rules that are missing ------------------------------------------------------------------


def test_missing_rule_names_the_call_and_the_line():
    with raises(
        cr.MissingRuleError,
        "unwrap_phase has no rrule",
        "argument 0 depends on a differentiated input",
        "called as  unwrap_phase(float64[3])  in test_errors.py",
        "@cr.rrule.register(unwrap_phase)",
    ):
        cr.grad(lambda x: np.sum(UNKNOWN(x)))(X)
    with raises(cr.MissingRuleError, "has no frule", "@cr.frule.register(unwrap_phase)"):
        cr.jvp(lambda x: UNKNOWN(x), (X,), (X,))


UNKNOWN = cr.primitive(np.frompyfunc(math.sin, 1, 1))
UNKNOWN.__name__ = "unwrap_phase"
UNKNOWN.__module__ = "somewhere"


def test_missing_rule_error_is_a_not_implemented_error():
    with pytest.raises(NotImplementedError):
        cr.grad(lambda x: np.sum(UNKNOWN(x)))(X)


def test_a_foreign_function_gets_a_clear_error():
    library = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
    library.cbrt.restype, library.cbrt.argtypes = ctypes.c_double, [ctypes.c_double]
    with pytest.raises((cr.LostDerivativeError, ctypes.ArgumentError)):
        cr.grad(lambda x: library.cbrt(x))(8.0)


def test_unsupported_keywords_are_refused_not_ignored():
    @cr.primitive
    def total(x, scale=1.0, offset=0.0):
        return scale * np.sum(x) + offset

    @cr.rrule.register(total)
    def total_rrule(total, x, *, scale=1.0):
        def total_pullback(ybar):
            return cr.NoTangent(), scale * ybar * np.ones_like(x)

        return total(x, scale=scale), total_pullback

    np.testing.assert_array_equal(cr.grad(lambda x: total(x, scale=2.0))(X), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(cr.grad(lambda x: total(x, 2.0))(X), [2.0, 2.0, 2.0])
    with raises(cr.MissingRuleError, "keyword 'offset'", "supports: scale"):
        cr.grad(lambda x: total(x, offset=1.0))(X)


def test_an_option_that_depends_on_an_input():
    @cr.primitive
    def scaled(x, factor):
        return x * factor

    cr.linear_rule(scaled, lambda ybar, space, factor: ybar * factor)
    assert cr.grad(lambda x: scaled(x, 3.0))(2.0) == 3.0
    with raises(cr.LostDerivativeError, "option 'factor'", "factor=cr.value(...)"):
        cr.grad(lambda x: scaled(1.0, x))(2.0)
    with raises(cr.LostDerivativeError, "option 'factor'"):
        cr.jvp(lambda x: scaled(1.0, x), (2.0,), (1.0,))


# ---- rules that are wrong --------------------------------------------------------------------


def wrong_rule(result):
    @cr.primitive
    def wrong(x, y):
        return x * y

    @cr.rrule.register(wrong)
    def wrong_rrule(wrong, x, y):
        def wrong_pullback(ybar):
            return result(ybar)

        return wrong(x, y), wrong_pullback

    return wrong


@pytest.mark.parametrize(
    ("result", "error", "part"),
    [
        (lambda ybar: (ybar, ybar), cr.RuleError, "returned 2 cotangents"),
        (lambda ybar: [ybar, ybar, ybar], cr.RuleError, "returned a list"),
        (lambda ybar: ybar, cr.RuleError, "return a tuple of 3"),
        (
            lambda ybar: (cr.NoTangent(), np.ones((3, 1)), ybar),
            cr.TangentError,
            "gave argument 0 a cotangent of shape (3, 1)",
        ),
    ],
)
def test_a_wrong_pullback_is_named(result, error, part):
    wrong = wrong_rule(result)
    with raises(error, part, "wrong"):
        cr.grad(lambda x: np.sum(wrong(x, x)))(X)


def test_a_wrong_frule_is_named():
    @cr.primitive
    def wrong(x):
        return x

    @cr.frule.register(wrong)
    def wrong_frule(tangents, wrong, x):
        return wrong(x), np.ones(7)

    with raises(cr.TangentError, "the frule of wrong gave a tangent of shape (7,)", "shape (3,)"):
        cr.jvp(lambda x: wrong(x), (X,), (X,))


def test_a_rule_must_have_the_signature_of_the_call():
    with raises(cr.RuleError, "must have the signature (tangents, f, *args)"):

        @cr.frule.register(math.sin)
        def sin_frule(tangents):
            return None

    with raises(cr.RuleError, "register needs the function itself"):
        cr.rrule.register("sin")


def test_a_rule_must_return_a_pair():
    @cr.primitive
    def half(x):
        return x / 2

    @cr.rrule.register(half)
    def half_rrule(half, x):
        return half(x)

    with raises(cr.RuleError, "must return (y, pullback)", "test_errors.py"):
        cr.grad(half)(1.0)


def test_not_implemented_is_an_error_only_where_it_would_reach_a_result():
    @cr.primitive
    def bessel(order, x):
        return x**order

    cr.scalar_rule(
        bessel,
        cr.not_implemented("the derivative in the order is not written"),
        lambda y, order, x: order * x ** (order - 1),
    )
    assert cr.grad(bessel, argnums=1)(2.0, 3.0) == 6.0
    assert cr.grad(lambda x: bessel(2.0, x))(3.0) == 6.0
    for program in (
        lambda: cr.grad(lambda n: bessel(n, 3.0))(2.0),
        lambda: cr.grad(lambda n: bessel(n, X)[0])(2.0),
        lambda: cr.jvp(lambda n: bessel(n, 3.0), (2.0,), (1.0,)),
        lambda: cr.jvp(lambda n: 2.0 * bessel(n, 3.0) + n, (2.0,), (1.0,)),
    ):
        with raises(
            cr.MissingDerivativeError, "the derivative in the order is not written", "test_errors"
        ):
            program()


# ---- transforms used wrongly -----------------------------------------------------------------


def test_grad_needs_a_scalar_output():
    def loss(x):
        return x * x

    with raises(TypeError, "grad needs a scalar output, and loss returned float64[3]", "jacobian"):
        cr.grad(loss)(X)
    with raises(TypeError, "returned complex", "real part"):
        cr.grad(lambda x: x * 1j)(1.0)
    with raises(TypeError, "needs a scalar output", "has_aux=True"):
        cr.value_and_grad(lambda x: (x, x))(1.0)
    with raises(TypeError, "must return (y, aux)"):
        cr.grad(lambda x: x, has_aux=True)(1.0)


@pytest.mark.parametrize(
    ("argnums", "part"),
    [
        (1, "there is no argument 1"),
        (-2, "there is no argument -2"),
        ("w", "has no argument 'w'"),
        (0.0, "is an int, a name, or a tuple of these"),
        ((0, 0), "names an argument twice"),
    ],
)
def test_bad_argnums(argnums, part):
    for transform in (cr.grad, cr.jacfwd, cr.jacrev, cr.jacobian, cr.value_and_grad):
        with raises(TypeError, part):
            transform(TOTAL, argnums=argnums)(X)


def test_an_argument_without_numbers():
    with raises(TypeError, "argument 0 of", "is of type str", "argnums"):
        cr.grad(lambda s, x: x)("text", 1.0)
    with raises(TypeError, "is of type bool"):
        cr.grad(lambda flag: 1.0)(True)


@pytest.mark.parametrize(
    ("ybar", "part"),
    [
        (np.ones(2), "has shape (2,)"),
        (1.0, "give one of shape (3,)"),
        (np.ones(3) * 1j, "is complex, and the value it belongs to is real"),
        ({"a": 1.0}, "not a dict"),
        (None, "not a NoneType"),
        (np.array(["a", "b", "c"]), "must be of numbers"),
    ],
)
def test_cotangents_that_do_not_fit(ybar, part):
    _, pullback = cr.vjp(lambda x: x * 2.0, X)
    with raises(cr.TangentError, "the cotangent of the output", part):
        pullback(ybar)


def test_tangents_that_do_not_fit():
    with raises(cr.TangentError, "the tangent of argument 0 has shape ()", "float64[3]"):
        cr.jvp(TOTAL, (X,), (1.0,))
    with raises(TypeError, "1 primal and 2 tangents"):
        cr.jvp(TOTAL, (X,), (X, X))
    with raises(TypeError, "are tuples"):
        cr.jvp(TOTAL, X, X)
    with raises(cr.TangentError, "argument 0", "has 1"):
        cr.jvp(lambda t: t[0], ((1.0, 2.0),), ((1.0,),))
    with raises(cr.TangentError, "no part 'c'"):
        cr.jvp(lambda t: t["a"], ({"a": 1.0},), ({"c": 1.0},))
    _, pushforward = cr.linearize(TOTAL, X)
    with raises(TypeError, "1 primal and 2 tangents"):
        pushforward(X, X)


def test_values_that_escape():
    kept = []

    def keeps(x):
        kept.append(x)
        return np.sum(x)

    for run in (lambda: cr.grad(keeps)(X), lambda: cr.jvp(keeps, (X,), (X,))):
        kept.clear()
        run()
        for use in (lambda: kept[0] * 2.0, lambda: np.sin(kept[0]), lambda: kept[0].sum()):
            with raises(cr.EscapedTraceError, "test_errors.py", "had ended", "cr.value(x)"):
                use()


def test_a_value_kept_from_an_inner_transform_is_caught_in_an_outer_one():
    kept = []

    def outer(x):
        cr.grad(lambda y: kept.append(y) or y * x)(1.0)
        return x * kept[0]

    with pytest.raises(cr.EscapedTraceError):
        cr.grad(outer)(2.0)


def test_a_function_that_is_not_holomorphic_has_no_complex_jacobian():
    z = np.array([1.0 + 2.0j])
    for transform in (cr.jacfwd, cr.jacrev):
        with raises(TypeError, "not holomorphic", "np.real"):
            transform(np.conj)(z)


def test_frule_and_rrule_called_wrongly():
    with raises(TypeError, "got 1 arguments and 1 tangents"):
        cr.frule((1.0,), np.sin, 1.0)
    with raises(TypeError, "tangents is a tuple"):
        cr.frule(np.sin, 1.0)
    with raises(TypeError, "rrule takes"):
        cr.rrule()


def test_a_config_without_the_mode():
    class Nothing(cr.RuleConfig, cr.NoForwardsMode, cr.NoReverseMode):
        pass

    with raises(cr.RuleError, "Nothing() has no rrule_via_ad", "HasReverseMode"):
        cr.rrule_via_ad(Nothing(), np.sin, 1.0)
    with raises(cr.RuleError, "needs a RuleConfig"):
        cr.frule_via_ad(None, (cr.NoTangent(), 1.0), np.sin, 1.0)


# ---- errors that the function hides ----------------------------------------------------------


def bounded_exp(x):
    try:
        return math.exp(x)
    except:  # noqa: E722 - as people write it
        return 1e308


def failing_exp(x):
    return 1.0 / (bounded_exp(x) - bounded_exp(-x))


def without_its_array(x):
    with contextlib.suppress(TypeError):
        return np.asarray(x, float) * 2.0
    return x


@pytest.mark.parametrize("transform", [cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (1.0,))])
@pytest.mark.parametrize(
    ("f", "what"),
    [
        (bounded_exp, "math.exp(x)"),
        (failing_exp, "math.exp(x)"),
        (lambda x: cr.grad(bounded_exp)(x), "math.exp(x)"),
        (without_its_array, "np.asarray(x, float)"),
    ],
)
def test_a_refusal_that_an_except_clause_hid_is_raised_at_the_end(transform, f, what):
    with raises(cr.LostDerivativeError, "something hid this error, and went on", what):
        transform(f)(1.0)
    assert cr.grad(lambda x: x * x)(1.0) == 2.0


def test_a_refusal_that_plain_numbers_meet_as_well_is_nobodys_loss():
    def total(x):
        try:
            return float(x)
        except TypeError:
            return np.sum(x)

    np.testing.assert_array_equal(cr.grad(total)(X), np.ones(3))


def test_a_log_may_do_without_the_number(caplog, monkeypatch):
    monkeypatch.setattr(logging, "raiseExceptions", False)

    def square(x):
        logging.getLogger("test").warning("x is %g", x)
        return x * x

    assert cr.grad(square)(3.0) == 6.0
