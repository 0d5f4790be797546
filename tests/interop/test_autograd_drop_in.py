"""``chainrules.interop.autograd`` in the place of autograd: the same programs, the same numbers."""

import importlib
import subprocess
import sys
import warnings

import numpy as onp
import pytest
from cases_of_autograd import OPERATORS, PROGRAMS, M, X, Z

import chainrules as cr
from chainrules.interop import autograd as drop_in
from chainrules.interop.autograd import numpy as np


def theirs():
    autograd = pytest.importorskip("autograd")
    for name in ("misc", "numpy", "scipy", "scipy.linalg", "test_util"):
        importlib.import_module(f"autograd.{name}")
    return autograd


def assert_same(expected, found, rtol=1e-9):
    if isinstance(expected, dict):
        assert set(expected) == set(found)
        for key in expected:
            assert_same(expected[key], found[key], rtol)
    elif isinstance(expected, list | tuple):
        assert isinstance(found, type(expected))
        assert len(expected) == len(found)
        for e, f in zip(expected, found):
            assert_same(e, f, rtol)
    else:
        assert onp.shape(expected) == onp.shape(found)
        onp.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    autograd = theirs()
    program = OPERATORS[name]
    assert_same(program(autograd, autograd.numpy), program(drop_in, np))


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program):
    autograd = theirs()
    rtol = 1e-6 if program.__name__ == "ordinary_differential_equation" else 1e-9
    assert_same(program(autograd, autograd.numpy), program(drop_in, np), rtol)


def test_the_names_of_autograd():
    autograd = theirs()
    names = [name for name in vars(autograd) if name[0] != "_"]
    # Modules that are about its graph, and what it imports for itself.
    assert [] == [name for name in names if not hasattr(drop_in, name) and name != "test_util"]


@pytest.mark.parametrize(
    "module",
    ["differential_operators", "builtins", "extend", "misc.flatten", "misc.optimizers",
     "test_util", "util", "wrap_util"],
)  # fmt: skip
def test_the_functions_of_its_modules(module):
    theirs()
    their = importlib.import_module(f"autograd.{module}")
    ours = importlib.import_module(f"chainrules.interop.autograd.{module}")
    own = [
        name
        for name, f in vars(their).items()
        if getattr(f, "__module__", "") == their.__name__ and name[0] != "_"
    ]
    missing = {name for name in own if not hasattr(ours, name)}
    assert missing <= ABSENT


# Of autograd's own making, which nobody else needs.
ABSENT = {
    "ContainerVSpace", "DictMeta", "DictVSpace", "ListMeta", "ListVSpace", "NamedTupleVSpace",
    "SequenceVSpace", "TupleMeta", "TupleVSpace", "fwd_grad_make_sequence", "grad_container_take",
    "grad_sequence_extend_left", "grad_sequence_extend_right", "func", "toposort",
    "quick_grad_check", "get_name", "get_doc", "wraps", "wrap_nary_f", "make_numerical_jvp",
}  # fmt: skip


@pytest.mark.slow
def test_without_autograd():
    script = """
import sys
sys.modules["autograd"] = None
from chainrules.interop.autograd import grad, hessian, numpy as np, scipy
import chainrules.interop.autograd.numpy as anp
import chainrules.interop.autograd.numpy.random as npr
import chainrules.interop.autograd.scipy.stats.norm as norm
from chainrules.interop.autograd.builtins import isinstance, list
from chainrules.interop.autograd.extend import defvjp, primitive
from chainrules.interop.autograd.misc import flatten
from chainrules.interop.autograd.misc.optimizers import adam
from chainrules.interop.autograd.numpy.linalg import solve
from chainrules.interop.autograd.numpy.numpy_boxes import ArrayBox
from chainrules.interop.autograd.scipy.misc import logsumexp
from chainrules.interop.autograd.scipy.special import expit
from chainrules.interop.autograd.test_util import check_grads
assert grad(lambda x: norm.logpdf(x, 0.0, 1.0))(2.0) == -2.0
assert scipy.stats.norm.cdf(0.0) == 0.5
assert np.linalg.solve is solve and anp is np
check_grads(expit)(0.3)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


# ---- the convention for complex numbers ----------------------------------------------------------


def modulus(z):
    return np.sum(np.abs(z) ** 2 * np.real(z))


@pytest.mark.parametrize("operator", ["grad", "elementwise_grad", "jacobian"])
def test_convention(operator):
    take = getattr(drop_in, operator)
    onp.testing.assert_allclose(cr.grad(modulus)(Z), take(modulus, convention="chainrules")(Z))
    onp.testing.assert_allclose(onp.conj(cr.grad(modulus)(Z)), take(modulus)(Z))
    # Real ones are the same in both.
    onp.testing.assert_allclose(take(modulus)(X), take(modulus, convention="chainrules")(X))


def test_convention_of_pullbacks():
    _, pullback = cr.vjp(lambda z: np.conj(z) * z**2, Z)
    vjp, _ = drop_in.make_vjp(lambda z: np.conj(z) * z**2, convention="chainrules")(Z)
    onp.testing.assert_allclose(pullback(Z * 1j)[0], vjp(Z * 1j))
    _, gradient = drop_in.value_and_grad(modulus, convention="chainrules")(Z)
    onp.testing.assert_allclose(cr.grad(modulus)(Z), gradient)
    both = drop_in.grad_and_aux(lambda z: (modulus(z), z), convention="chainrules")(Z)
    onp.testing.assert_allclose(cr.grad(modulus)(Z), both[0])


def test_unknown_convention():
    with pytest.raises(ValueError, match="convention='jax'"):
        drop_in.grad(modulus, convention="jax")(Z)


# ---- what autograd has not -----------------------------------------------------------------------


def test_writes_and_plain_numpy():
    def filled(x):
        y = np.zeros(3)
        y[1:] = x[:2] ** 2
        return onp.sum(onp.sin(y))

    expected = 2 * X * onp.cos(X**2) * [1, 1, 0]
    onp.testing.assert_allclose(expected, drop_in.grad(filled)(X))


def test_forward_mode_of_what_has_a_vjp_only():
    @drop_in.extend.primitive
    def square(x):
        return onp.asarray(x, float) ** 2

    drop_in.extend.defvjp(square, lambda ans, x: lambda g: 2 * x * g)
    onp.testing.assert_allclose(2 * X, drop_in.make_jvp(square)(X)(onp.ones(3))[1])
    onp.testing.assert_allclose(onp.diag(2 + 0 * X), cr.jacfwd(lambda x: cr.grad(
        lambda x: np.sum(square(x)))(x))(X))  # fmt: skip


def test_rules_are_ours():
    @drop_in.extend.primitive
    def shifted(x, by=1.0):
        return onp.asarray(x, float) + by

    drop_in.extend.defvjp(shifted, lambda ans, x, by=1.0: lambda g: g)
    from chainrules.testing import test_frule, test_rrule

    test_rrule(shifted, X)
    test_frule(shifted, X, by=3.0)
    # Defined once more: the last one counts, also in forward mode.
    drop_in.extend.defvjp(shifted, lambda ans, x, by=1.0: lambda g: 5 * g)
    assert 5.0 == drop_in.grad(shifted)(1.0)
    assert 5.0 == drop_in.deriv(shifted)(1.0)
    drop_in.extend.defjvp(shifted, lambda g, ans, x, by=1.0: 7 * g)
    assert 7.0 == drop_in.deriv(shifted)(1.0)


def test_rules_of_several_arguments():
    @drop_in.extend.primitive
    def weighted(a, b, c):
        return onp.asarray(a, float) * float(b) + onp.asarray(c, float)

    drop_in.extend.defvjp(
        weighted, lambda ans, a, b, c: lambda g: g * b, None, lambda ans, a, b, c: lambda g: g
    )
    found = drop_in.grad(lambda *xs: np.sum(weighted(*xs)), (0, 1, 2))(X, 2.0, X)
    assert_same((2 + 0 * X, 0.0, 1 + 0 * X), found)
    drop_in.extend.def_linear(weighted)
    assert_same(weighted(X, 2.0, X), drop_in.make_jvp(weighted, 1)(X, 9.0, X)(2.0)[1])


def test_an_argument_without_a_rule():
    @drop_in.extend.primitive
    def scaled(a, b):
        return onp.asarray(a, float) * float(b)

    drop_in.extend.defvjp(scaled, lambda ans, a, b: lambda g: g * b)
    assert 3.0 == drop_in.grad(scaled)(2.0, 3.0)
    for transform in (drop_in.grad, drop_in.deriv):
        with pytest.raises(cr.MissingDerivativeError, match="VJP of scaled wrt argnum 1"):
            transform(scaled, 1)(2.0, 3.0)


# ---- errors and warnings -------------------------------------------------------------------------


def test_what_does_not_depend_on_the_input():
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        assert 0.0 == drop_in.grad(lambda x: 3.0)(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drop_in.hessian(lambda x: np.sum(x**3))(X)


NAMES = drop_in.extend
ERRORS = {
    "grad of a vector": (
        lambda: drop_in.grad(lambda x: x)(X),
        "grad only applies to real scalar-output functions, and <lambda> returned float64",
    ),
    "grad of a complex number": (
        lambda: drop_in.grad(lambda z: z)(1j),
        "try jacobian, elementwise_grad or holomorphic_grad",
    ),
    "grad of a tuple": (lambda: drop_in.grad(lambda x: (x, x))(1.0), "returned tuple"),
    "elementwise_grad of complex": (
        lambda: drop_in.elementwise_grad(lambda z: z)(Z),
        "elementwise_grad only applies to real-output functions",
    ),
    "jacobian of complex": (lambda: drop_in.jacobian(lambda z: z)(Z), "have a Jacobian each"),
    "hessian of complex": (lambda: drop_in.hessian(modulus)(Z), "write make_hvp"),
    "argnums": (lambda: drop_in.grad(modulus, argnums=1), "takes argnum, as autograd does"),
    "argnum of a name": (lambda: drop_in.grad(modulus, "z"), "argnum of grad is a number"),
    "too few arguments": (lambda: drop_in.grad(modulus, 2)(X), "argument number 2, and 1 were"),
    "no function": (lambda: drop_in.grad(3), "grad takes a function, not int"),
    "vspace of text": (lambda: NAMES.vspace("a"), "there is no vector space of"),
    "a box": (lambda: NAMES.Box(1.0, 0, None), "values are traced by the transforms"),
    "register_notrace": (
        lambda: NAMES.register_notrace(None, np.sin),
        "write cr.non_differentiable",
    ),
    "defvjp of no primitive": (
        lambda: NAMES.defvjp(np.sin, lambda ans, x: lambda g: g),
        "is no primitive",
    ),
    "defvjp of a word": (
        lambda: NAMES.defvjp(NAMES.primitive(lambda x: x), "same"),
        "'same' is no VJP",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    program, message = ERRORS[name]
    with pytest.raises(TypeError, match=message):
        program()


def test_what_clients_say_while_they_are_imported():
    core = drop_in.core
    assert core.primitive is NAMES.primitive
    assert core.defvjp is NAMES.defvjp
    assert core.VJPNode is NAMES.VJPNode
    with pytest.raises(AttributeError, match="has no attribute 'toposort_again'"):
        _ = core.toposort_again

    class Mine(core.Node):
        def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
            self.value = value

    class Volume:
        def __init__(self, x):
            self.x = x

    class VolumeBox(core.Box):
        pass

    class VolumeSpace(core.VSpace):
        pass

    for register, what in ((VolumeBox.register, "box"), (VolumeSpace.register, "space")):
        with pytest.warns(cr.RuleNeverAskedWarning, match=f"no {what} is needed for Volume"):
            register(Volume)
    assert cr.grad(lambda x: Volume(x).x ** 2)(3.0) == 6.0
    assert core.sum_outgrads([1.0, 2.0, 3.5]) == 6.5


def test_defvjp_of_a_function_that_was_not_decorated():
    def cube(x):
        return x**3

    with pytest.warns(cr.RuleNeverAskedWarning):
        NAMES.defvjp(cube, lambda ans, x: lambda g: g * 7.0)
    _, pullback = cr.rrule(cube, 2.0)
    assert pullback(1.0)[1] == 7.0
    assert cr.grad(lambda x: cube(x) + 0.0)(2.0) == 12.0  # its calls are not seen
    with pytest.warns(cr.RuleNeverAskedWarning):
        NAMES.defjvp(cube, lambda g, ans, x: g * 5.0)
    assert cr.frule((cr.NoTangent(), 1.0), cube, 2.0)[1] == 5.0


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match="write grad\\(f, \\(0, 1\\)\\)"):
        _ = drop_in.multigrad
    with pytest.raises(ValueError, match="has no argument 'y'; it has z"):
        drop_in.grad_named(modulus, "y")


def test_check_grads():
    check_grads = drop_in.test_util.check_grads
    check_grads(lambda a, x: a @ np.tanh(x), (0, 1), modes=["rev"], order=3)(M, X)

    @drop_in.extend.primitive
    def wrong(x):
        return onp.asarray(x, float) ** 2

    drop_in.extend.defvjp(wrong, lambda ans, x: lambda g: 3 * x * g)
    with pytest.raises(AssertionError, match="wrong"):
        check_grads(wrong)(X)
    with pytest.raises(ValueError, match="no mode 'both'"):
        check_grads(wrong, modes=["both"])(X)
    with pytest.warns(UserWarning, match="check_grads"), pytest.raises(AssertionError):
        drop_in.util.quick_grad_check(wrong, X)


def test_combo_check():
    check = drop_in.test_util.combo_check
    check(lambda x, power=2: np.sum(x**power), order=1)([X, 0.3], power=[2, 3])
    drop_in.test_util.check_equivalent([X, 1.0], [X + 1e-9, 1.0])
    with pytest.raises(AssertionError):
        drop_in.test_util.check_equivalent([X, 1.0], [X, 1.1])
