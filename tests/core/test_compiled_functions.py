"""Functions that numba or Cython compiled, in adopted modules and elsewhere."""

import gc

import numpy as np
import pytest
from modules_of_text import module_of

import chainrules as cr


def module(source):
    return module_of(source, "adopted_compiled")


def test_what_is_compiled_by_numba_after_the_adoption_sees_traced_values():
    pytest.importorskip("numba")
    made = module(
        """
        import numpy as np
        from numba import njit, vectorize

        factor = 2.0

        @njit
        def double(x):
            return factor * x

        def _third(x):
            return np.exp(x) * double(x)

        def compile_again(new):
            globals()["factor"] = new
            globals()["double"] = njit(double.py_func if hasattr(double, "py_func") else double)
            globals()["third"] = vectorize(_third)

        def f(x):
            @njit
            def inner(t):
                return np.sin(t) * double(t)

            @njit(cache=False)
            def outer(t):
                return inner(t) + 1.0

            return outer(x)
        """
    )
    with cr.adopt(made):
        made.compile_again(3.0)
        assert made.third(0.5) == pytest.approx(np.exp(0.5) * 1.5)
        assert made.f(0.5) == pytest.approx(np.sin(0.5) * 1.5 + 1.0)
        assert cr.grad(made.third)(0.5) == pytest.approx(np.exp(0.5) * (1.5 + 3.0))
        assert cr.grad(cr.grad(made.f))(0.5) == pytest.approx(
            3.0 * (2.0 * np.cos(0.5) - 0.5 * np.sin(0.5))
        )
        x = np.array([0.2, 0.7])
        np.testing.assert_allclose(
            cr.grad(lambda x: np.sum(made.third(x)))(x), np.exp(x) * 3.0 * (x + 1.0)
        )


def test_ufuncs_of_numba_taken_from_a_module_before_its_adoption_run_in_python():
    pytest.importorskip("numba")
    made = module_of(
        """
        import math
        from numba import vectorize

        @vectorize
        def enthalpy(t, w):
            return 1.006 * t + w * math.sqrt(2501.0 + 1.86 * t)
        """,
        "adopted_before",
    )
    taken = made.enthalpy
    gc.unfreeze()  # a recording asks the collector for the methods of numba's that run
    t = np.array([20.0, 25.0])
    with cr.adopt(made):
        assert cr.grad(taken)(25.0, 0.5) == cr.grad(made.enthalpy)(25.0, 0.5)
        np.testing.assert_array_equal(
            cr.grad(lambda t: np.sum(taken(t, 0.5)))(t), cr.vmap(cr.grad(taken), (0, None))(t, 0.5)
        )
        np.testing.assert_allclose(cr.compile(cr.grad(taken))(25.0, 0.5), cr.grad(taken)(25.0, 0.5))
    with pytest.raises(cr.MissingRuleError, match="compiled by numba"):
        cr.grad(taken)(25.0, 0.5)


def test_functions_of_numba_run_in_python_in_batches_and_recordings():
    pytest.importorskip("numba")
    made = module_of(
        """
        import numpy as np
        from numba import njit, vectorize

        @njit
        def square(x, y):
            return x * x + y[0]

        @vectorize
        def cube(x):
            return x**3

        def f(x):
            y = np.zeros(3)
            y[0] = 2.0
            return square(x, y) + cube(x)
        """,
        "compiled_in_batches",
    )
    with cr.adopt(made):
        np.testing.assert_array_equal(cr.vmap(made.f)(np.array([1.0, 2.0])), [4.0, 14.0])
        compiled = cr.compile(made.f)
        assert [compiled(1.0), compiled(2.0)] == [4.0, 14.0]
        assert "1 recording" in str(compiled)


def test_generalized_ufuncs_of_numba_run_in_python_on_traced_values():
    pytest.importorskip("numba")
    made = module(
        """
        import numpy as np
        from numba import guvectorize

        @guvectorize(["void(float64[:], float64, float64[:], float64[:])"], "(n),()->(n),()")
        def scaled(x, factor, y, total):
            total[0] = 0.0
            for i in range(len(x)):
                y[i] = factor * x[i] ** 2
                total[0] += y[i]
        """
    )
    x = np.arange(6.0).reshape(2, 3)
    with cr.adopt(made):
        for mode in (cr.jacfwd, cr.jacrev):
            got = mode(lambda x: made.scaled(x, 3.0)[1])(x)
            expected = np.zeros((2, 2, 3))
            expected[[0, 1], [0, 1]] = 6.0 * x
            np.testing.assert_allclose(got, expected)
        assert cr.grad(lambda t: np.sum(made.scaled(x, t)[0]))(2.0) == pytest.approx(np.sum(x**2))
        np.testing.assert_allclose(made.scaled(x, 3.0)[0], 3.0 * x**2)


def test_numba_functions_that_are_not_adopted_say_that_they_are_compiled():
    numba = pytest.importorskip("numba")

    @numba.vectorize
    def product(x, y):
        return x * y

    for f in (lambda x: product(x, 2.0), lambda x: product(x, x), lambda x: product(2.0, x)):
        with pytest.raises((cr.LostDerivativeError, cr.MissingRuleError), match="compiled"):
            cr.grad(f)(1.5)


class _Compiled:
    """A function of Cython's, as it looks: it takes NumPy's own arrays only."""

    __name__, __module__ = "halve", "somewhere.core"

    def __init__(self, names, calls=None):
        self.names, self.calls = names, calls

    def __call__(self, x, factor=0.5):
        if self.calls is not None:
            self.calls.append(1)
        if type(x) is not np.ndarray:
            raise TypeError(f"Argument 'x' has incorrect type (got {type(x).__name__})")
        x[0] = 0.0
        y = self.names["np"].zeros(len(x))  # in memory that it has typed
        memoryview(y)[:] = memoryview(x * factor)
        return y


_Compiled.__name__ = "cython_function_or_method"


def test_compiled_functions_are_given_numpys_arrays_for_plain_buffers():
    made = module(
        """
        import numpy as np

        def f(x):
            knots = np.array([1.0, 2.0, 3.0])
            half = compiled(knots)
            half[0] = x[0]
            return np.sum(half * x) + knots[0]

        def traced(x):
            y = np.zeros(3)
            y[0] = x[0]
            return np.sum(compiled(y))
        """
    )
    made.compiled = _Compiled(vars(made))
    x = np.array([0.5, 2.0, 3.0])
    with cr.adopt(made):
        value, slopes = cr.value_and_grad(made.f)(x)
        assert value == pytest.approx(0.25 + 2.0 + 4.5)
        np.testing.assert_allclose(slopes, [1.0, 1.0, 1.5])
        np.testing.assert_allclose(cr.jacfwd(made.f)(x), slopes)
        with pytest.raises((cr.LostDerivativeError, TypeError), match="Array"):
            cr.grad(made.traced)(x)
    assert type(made.compiled) is _Compiled


def test_classes_that_hide_their_module_do_not_stop_adoption():
    made = module(
        """
        class Kind:
            @property
            def __module__(self):
                return "a text"

            def __call__(self, x):
                return x * self.factor

        kind = Kind()
        kind.factor = 3.0

        class Hidden:
            __module__ = property(lambda self: 1)

        hidden = Hidden()

        def f(x):
            return kind(x)
        """
    )
    with cr.adopt(made):
        assert cr.grad(made.f)(2.0) == 3.0


def test_a_compiled_function_is_called_once_however_often_its_module_is_adopted():
    calls = []
    made = module("import numpy as np\n\ndef f(x):\n    return compiled(np.array([1.0, x]))\n")
    made.compiled = _Compiled(vars(made), calls)
    with cr.adopt(made), cr.adopt(made), pytest.raises(TypeError, match="got"):
        cr.grad(made.f)(2.0)
    assert calls == [1]


@pytest.mark.filterwarnings("error::chainrules.CompileWarning")
def test_functions_of_numba_do_not_keep_a_gradient_from_being_compiled():
    pytest.importorskip("numba")
    pytest.importorskip("llvmlite")
    made = module(
        """
        import numpy as np
        from numba import njit, vectorize

        @njit
        def double(x):
            return 2.0 * x

        @vectorize
        def grown(x):
            return np.exp(double(x))

        def f(x):
            return np.sum(grown(x)) * double(x[0])
        """
    )
    x = np.array([0.2, 0.7])
    with cr.adopt(made):
        expected = cr.grad(made.f)(x)
        compiled = cr.compile(cr.grad(made.f))
        for _ in range(3):
            np.testing.assert_allclose(compiled(x), expected)
        np.testing.assert_allclose(compiled(2.0 * x), cr.grad(made.f)(2.0 * x))


def test_a_callback_for_c_stays_what_it_is():
    numba = pytest.importorskip("numba")

    module = module_of(
        """
        import math
        import numba
        from scipy import integrate

        @numba.cfunc("float64(float64)")
        def square(x):
            return x * x

        def area(b):
            return integrate.quad(square.ctypes, 0.0, b)[0]

        def at(x):
            return math.sin(square(x))
        """,
        "with_a_callback",
    )
    assert isinstance(module.square, numba.core.ccallback.CFunc)
    with cr.adopt(module):
        assert module.area(3.0) == pytest.approx(9.0)
        assert cr.grad(module.at)(0.5) == pytest.approx(np.cos(0.25))
        with pytest.raises(cr.MissingRuleError, match="give it a function in Python"):
            cr.grad(module.area)(3.0)
