"""solve_ivp and odeint: value, both modes and second order, by differences of SciPy's own."""

import checks_of_objects as checks
import numpy as np
import pytest
import scipy.integrate as plain
from derivatives import by_jvp

import chainrules as cr
import chainrules.numpy
from chainrules.scipy import integrate

check = checks.check

TIGHT = {"rtol": 1e-9, "atol": 1e-9}
LESS = {"rtol": 1e-7, "atol": 1e-7}  # for what takes many steps
K, Y0, TIMES = np.array([1.3, 0.2]), np.array([1.0, 0.3]), np.linspace(0, 0.5, 4)
END = TIMES[-1]
METHODS = {"RK23": {"rtol": 1e-5, "atol": 1e-5}, "RK45": TIGHT, "DOP853": TIGHT, "Radau": LESS,
           "BDF": LESS, "LSODA": TIGHT}  # fmt: skip
METHOD = pytest.mark.parametrize("method", METHODS)
QUICK = pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "LSODA"])
NEAR = 1e-4  # SciPy's own answer jumps where it takes another step: differences see that


def rhs(t, y, k):
    return np.stack([y[1], -k[0] * y[0] - k[1] * y[1] + np.cos(t)])


def solved(k, y0=Y0, span=(0, END), method="RK45", **options):
    given = METHODS[method] | options
    return integrate.solve_ivp(lambda t, y: rhs(t, y, k), span, y0, method, **given)


# ---- what is differentiated ---------------------------------------------------------------------


def test_a_closed_form():
    def end(k, y0, t1):
        return integrate.solve_ivp(lambda t, y: -k * y, (0, t1), [y0], **TIGHT).y[0, -1]

    slopes = cr.grad(end, argnums=(0, 1, 2))(1.3, 2.0, 0.7)
    exact = cr.grad(lambda k, y0, t1: y0 * np.exp(-k * t1), argnums=(0, 1, 2))(1.3, 2.0, 0.7)
    np.testing.assert_allclose(slopes, exact, rtol=1e-7)


@METHOD
def test_parameters_and_initial_state(method):
    check(
        lambda k, y0: integrate.solve_ivp(
            rhs, (0, END), y0, method, TIMES, args=(k,), **METHODS[method]
        ).y,
        K, Y0, rtol=NEAR,
    )  # fmt: skip


@QUICK
def test_the_span(method):
    check(lambda k, a, b: solved(k, span=(a, b), method=method).y[:, -1], K, 0.1, 0.6, rtol=NEAR)


@QUICK
def test_times(method):
    check(lambda k, t: solved(k, method=method, t_eval=t).y, K, TIMES[1:-1], rtol=NEAR)


@QUICK
def test_dense_output(method):
    def at(k, t):
        sol = solved(k, method=method, dense_output=True).sol
        return np.concatenate([np.ravel(sol(t)), sol(0.4 * t[0])])

    check(at, K, TIMES[1:-1], rtol=NEAR)


def test_all_of_the_answer_is_scipys():
    for method in METHODS:
        for given in ({}, {"t_eval": TIMES}, {"dense_output": True}):
            options = METHODS[method] | given
            own = plain.solve_ivp(rhs, (0, END), Y0, method, args=(K,), **options)
            found: list = []

            def loss(k, method=method, options=options, found=found):
                found.append(integrate.solve_ivp(rhs, (0, END), Y0, method, args=(k,), **options))
                return np.sum(found[0].y)

            cr.grad(loss)(K)
            for name in ("nfev", "njev", "nlu", "status", "message", "success", "t_events"):
                assert own[name] == found[0][name]
            np.testing.assert_array_equal(own.t, cr.value(found[0].t))
            if given.get("dense_output"):
                assert own.sol.t_max == found[0].sol.t_max
                np.testing.assert_array_equal(own.sol.ts, found[0].sol.ts)


def test_loose_tolerances_give_the_derivative_of_the_steps():
    """The derivative of what is computed: exact for the method, on the steps that it took."""

    def end(k, method):
        return integrate.solve_ivp(
            lambda t, y: -k * y, (0, 1), [1.0], method, t_eval=[1.0], max_step=0.25,
            first_step=0.25, rtol=10.0, atol=10.0,
        ).y[0, 0]  # fmt: skip

    step = 1e-4
    for method in ("RK23", "RK45", "DOP853", "Radau"):
        expected = (end(1.3 + step, method) - end(1.3 - step, method)) / (2 * step)
        assert cr.grad(end)(1.3, method) == pytest.approx(expected, rel=1e-7)
    # Of RK23: four steps, each of which multiplies by the series of exp up to the third order.
    series = lambda x: 1 + x + x**2 / 2 + x**3 / 6  # noqa: E731
    exact = cr.grad(lambda k: series(-k / 4) ** 4)(1.3)
    assert cr.grad(end)(1.3, "RK23") == pytest.approx(exact, rel=1e-12)


def test_backwards():
    check(lambda k, a: solved(k, span=(0.6, a), t_eval=[0.5, 0.2]).y, K, 0.1, rtol=NEAR)
    check(lambda k: solved(k, span=(0.3, 0.0), method="Radau").y[:, -1], K, rtol=NEAR)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_complex_states(method):
    def end(k, y0):
        turning = lambda t, y: (1j * k - 0.1) * y * np.conj(y)  # noqa: E731
        return integrate.solve_ivp(turning, (0, END), [y0 * (1 + 0.5j)], method, TIMES, **TIGHT).y

    check(end, 1.3, 0.4, rtol=NEAR)


def test_lists_vectorized_and_other_shapes():
    def end(fun, y0, **options):
        return integrate.solve_ivp(fun, (0, END), y0, **LESS, **options).y[:, -1]

    check(lambda k: end(lambda t, y: [-k * y[0], y[0]], [1, 0]), 1.3, rtol=NEAR)
    check(lambda k: end(lambda t, y: np.array([-k * y[0], y[0]]), [1, 0]), 1.3, rtol=NEAR)
    check(lambda k: end(lambda t, y: -k * y, Y0, vectorized=True), 1.3, rtol=NEAR)
    check(lambda y0: integrate.solve_ivp(lambda t, y: -y, (0, 0.0), y0, **LESS).y[:, -1], Y0)
    check(lambda t: integrate.solve_ivp(lambda t, y: -y, (0, t), Y0, t_eval=[0.0], **LESS).y, 1.0)


@pytest.mark.parametrize("transform", [cr.jacrev, cr.jacfwd])
@pytest.mark.parametrize("method", ["DOP853", "LSODA"])
def test_work_space(method, transform):
    def end(k, outside):
        def f(t, y):
            work = chainrules.numpy.zeros(2) if outside is None else outside
            work[0], work[1] = y[1], -k * y[0]
            return work

        return integrate.solve_ivp(f, (0, END), Y0, method, **TIGHT).y[:, -1]

    derivative = transform(lambda k: end(k, None))(1.3)
    expected = checks.differences(lambda k: end(k, None), (np.array(1.3),), (1.0,))
    np.testing.assert_allclose(derivative, expected, rtol=1e-6)
    # One that is made outside is for an evaluation for the derivative what it was at the call.
    again = transform(lambda k: end(k, chainrules.numpy.zeros(2)))(1.3)
    np.testing.assert_array_equal(again, derivative)
    with pytest.raises(cr.MutationError, match="solve_ivp called writes to a traced value that it"):
        transform(lambda k: end(k, k * np.zeros(2)))(1.3)


BANDED = np.abs(np.subtract.outer(range(40), range(40))) <= 1


def diffusing(t, y, k):
    """Heat in a rod whose ends are at 0; a list where numbers come one by one."""
    cold = np.zeros(1)
    apart = np.concatenate([cold, y[:-1]]) - 2 * y + np.concatenate([y[1:], cold])
    return list(k * 400.0 * apart + np.sin(y))


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_exact_jacobians_save_calls(method):
    y0, calls = np.sin(np.arange(40.0)), 0

    def f(t, y, k):
        nonlocal calls
        calls += 1
        return diffusing(t, y, k)

    def run(where, **more):
        nonlocal calls
        calls = 0
        return where.solve_ivp(f, (0, 0.1), y0, method, args=(1.0,), rtol=1e-6, **more), calls

    own, by_differences = run(plain)
    given = [{"jac": "ad"}]
    if method != "LSODA":
        given.append({"jac": "ad", "jac_sparsity": BANDED})
    for more in given:
        answer, exactly = run(integrate, **more)
        assert exactly <= by_differences - 30
        np.testing.assert_allclose(answer.y[:, -1], own.y[:, -1], rtol=1e-4, atol=1e-8)


def test_a_pattern_for_a_method_that_takes_none_is_scipys_warning():
    for where, jac in ((plain, None), (integrate, "ad")):
        with pytest.warns(UserWarning, match="jac_sparsity"):
            where.solve_ivp(
                rhs, (0, END), Y0, "LSODA", args=(K,), jac=jac, jac_sparsity=np.ones((2, 2))
            )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_derivatives_beside_exact_jacobians(method):
    y0 = np.sin(np.arange(16.0))

    def end(k, given=True, **more):
        f = lambda t, y: diffusing(t, y, k)  # noqa: E731
        more = {"jac": "ad"} | more if given else more
        return integrate.solve_ivp(f, (0, 0.02), y0, method, **LESS, **more).y[::4, -1]

    expected = cr.jacobian(lambda k: end(k, given=False))(1.3)
    for transform in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(transform(end)(1.3), expected, rtol=1e-5)
        found = transform(lambda k: end(k, jac_sparsity=BANDED[:16, :16]))(1.3)
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_an_exact_jacobian_of_a_vectorized_function():
    def f(t, y):
        assert y.shape[0] == 2
        return np.stack([y[1], -30.0 * y[0] - 100.0 * y[1]])

    own = integrate.solve_ivp(f, (0, 1), Y0, "Radau", vectorized=True)
    answer = integrate.solve_ivp(f, (0, 1), Y0, "Radau", vectorized=True, jac="ad")
    np.testing.assert_allclose(answer.y[:, -1], own.y[:, -1], rtol=1e-6)


def test_a_jacobian_that_is_given_is_scipys_business():
    def end(k, method):
        jac = lambda t, y: [[0, 1], [-k[0], -k[1]]]  # noqa: E731
        return solved(k, method=method, jac=jac).y[:, -1]

    for method in ("Radau", "BDF", "LSODA"):
        check(lambda k, method=method: end(k, method), K, rtol=NEAR, second=False)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_a_stiff_problem(method):
    """Robertson's reactions: time scales from 1e-4 on."""

    def robertson(t, y, k):
        a, b, c = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
        return np.stack([b - a, a - b - c, c])

    def end(k):
        given = {"rtol": 1e-7, "atol": 1e-11}
        return integrate.solve_ivp(robertson, (0, 1.0), [1, 0, 0], method, args=(k,), **given).y[
            :, -1
        ]

    k = np.array([0.04, 1e4, 3e7])
    slopes = cr.jacrev(end)(k) * k
    expected = [(end(k * (1 + 1e-3 * e)) - end(k * (1 - 1e-3 * e))) / 2e-3 for e in np.eye(3)]
    np.testing.assert_allclose(slopes, np.stack(expected, -1), rtol=2e-4, atol=1e-9)
    np.testing.assert_allclose(cr.jacfwd(end)(k) * k, slopes, rtol=1e-8, atol=1e-14)


# ---- events -------------------------------------------------------------------------------------


def crossing(t, y, *k):
    return y[0] - 1.05


def ending(t, y, *k):
    return y[0] - 1.05


ending.terminal = True


@QUICK
def test_times_and_states_of_events(method):
    def events(k, y0):
        moving = lambda t, y: y[0] - 0.8 * k[0]  # noqa: E731
        given = METHODS[method] | {"events": [crossing, moving]}
        answer = solved(k, y0, (0, END), method, **given)
        assert [1, 1] == [len(t) for t in answer.t_events]
        return np.concatenate([*answer.t_events, answer.y_events[1][0]])

    check(events, K, Y0, rtol=NEAR)


@QUICK
def test_an_event_that_ends_it(method):
    def end(k, y0):
        answer = solved(k, y0, (0, END), method, events=ending)
        return np.concatenate([answer.t[-1:], answer.y[:, -1]])

    check(end, K, Y0, rtol=NEAR)


def test_an_event_by_its_closed_form():
    def hit(v, g):
        fall = lambda t, y: [y[1], -g]  # noqa: E731
        ground = lambda t, y: y[0] - 0.1 * g  # noqa: E731
        ground.terminal, ground.direction = True, -1
        answer = integrate.solve_ivp(fall, (0, 9), [0.0, v], events=ground, **TIGHT)
        return answer.t_events[0][0]

    exact = lambda v, g: (v + np.sqrt(v * v - 0.2 * g * g)) / g  # noqa: E731
    for derivative in (cr.grad, cr.hessian):
        found = derivative(lambda x: hit(x[0], x[1]))(np.array([12.0, 9.8]))
        expected = derivative(lambda x: exact(x[0], x[1]))(np.array([12.0, 9.8]))
        np.testing.assert_allclose(found, expected, rtol=1e-7)
    third = lambda f: lambda v: cr.jvp(cr.grad(cr.grad(lambda v: f(v, 9.8))), (v,), (1.0,))[1]  # noqa: E731
    assert third(hit)(12.0) == pytest.approx(third(exact)(12.0), rel=1e-5)


def test_events_that_do_not_happen_and_times_before_them():
    def f(k):
        answer = solved(k, events=[lambda t, y: y[0] + 100, ending], t_eval=TIMES)
        assert len(answer.t_events[0]) == 0
        return answer.y[:, -1]

    check(f, K, rtol=NEAR)


# ---- odeint -------------------------------------------------------------------------------------


def test_odeint():
    check(
        lambda k, y0: integrate.odeint(lambda y, t: rhs(t, y, k), y0, TIMES, **TIGHT),
        K,
        Y0,
        rtol=NEAR,
    )
    check(
        lambda k, t: integrate.odeint(rhs, Y0, t, args=(k,), tfirst=True, **TIGHT),
        K,
        TIMES,
        rtol=NEAR,
    )
    check(
        lambda k: integrate.odeint(lambda y, t, k: -k * y, 1.0, TIMES, (k,), **TIGHT),
        1.3,
        rtol=NEAR,
    )
    check(
        lambda k: integrate.odeint(lambda y, t: [-k * y[0]], [1.0], [1.0, 0.2], **TIGHT),
        1.3,
        rtol=NEAR,
    )
    check(lambda y0: integrate.odeint(lambda y, t: -y, y0, [0.5], **TIGHT), Y0)


def test_odeint_with_more():
    found = []

    def f(k):
        y, info = integrate.odeint(
            lambda y, t: -k * y, [1.0], TIMES, (), lambda y, t: [[-k]], full_output=True, **TIGHT
        )
        found.append(info)
        return y

    check(f, 1.3, rtol=NEAR, second=False)
    assert found[0]["nfe"][-1] == found[1]["nfe"][-1]


def test_odeint_of_a_stiff_problem():
    def f(k):
        return integrate.odeint(lambda y, t: -k * (y - np.cos(t)), [0.0], [0.0, 1.0, 2.0], **LESS)

    check(f, 1e4, rtol=1e-3, second=False)
    slope = cr.grad(lambda k: np.sum(f(k)))(1e4)
    exact = cr.grad(
        lambda k: sum(k / (k * k + 1) * (k * np.cos(t) + np.sin(t)) for t in (1.0, 2.0))
    )
    assert slope == pytest.approx(exact(1e4), rel=1e-3)


# ---- in reverse mode ----------------------------------------------------------------------------


def test_many_parameters():
    rng = np.random.default_rng(0)
    w, v = rng.normal(size=(8, 2)) / 3, rng.normal(size=(2, 8)) / 3

    def loss(w, v):
        answer = integrate.solve_ivp(
            lambda t, y: v @ np.tanh(w @ y), (0, END), Y0, t_eval=TIMES, **LESS
        )
        return np.sum(answer.y**2)

    slopes = cr.grad(loss, argnums=(0, 1))(w, v)
    dots = checks.directions((w, v))
    expected = checks.differences(loss, (w, v), dots)
    assert sum(np.sum(a * b) for a, b in zip(slopes, dots)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853"])
def test_more_parameters_than_a_block_takes(method):
    """Then reverse mode pulls back through one evaluation of the right-hand side after another."""
    weights = np.linspace(0.5, 1.5, 40) / 40

    def states(k, end):
        def rhs(t, y):
            return [y[1], -np.sum(k * weights) * y[0] - k[0] * y[1] + np.cos(t)]

        tolerances = METHODS[method]
        return integrate.solve_ivp(rhs, (0, end), Y0, method, [0.1, 0.2, 0.5], **tolerances).y

    check(states, np.linspace(0.2, 1.3, 40), 0.6, rtol=NEAR)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_how_often_the_right_hand_side_is_evaluated(method):
    """As often as SciPy calls it: all directions are pushed in these calls."""
    calls = 0

    def states(k):
        def counted(t, y):
            nonlocal calls
            calls += 1
            return [y[1], -k[0] * y[0] - k[1] * y[1]]

        return integrate.solve_ivp(counted, (0, 2), Y0, method, t_eval=[1.0, 2.0], **TIGHT)

    own = states(K).nfev
    calls = 0
    cr.jvp(lambda k: states(k).y, (K,), (K,))
    assert calls == own
    for transform in (cr.jacrev, cr.jacfwd, cr.jacobian):
        calls = 0
        jacobian = transform(lambda k: states(k).y)(K)
        assert jacobian.shape == (2, 2, 2)
        assert calls == own
    calls = 0
    cr.grad(lambda k: np.sum(states(k).y ** 2))(K)
    assert calls == own


def test_states_are_scipys_own_in_both_modes():
    def states(k):
        return solved(k, t_eval=TIMES).y

    own = states(K)
    np.testing.assert_array_equal(cr.jvp(states, (K,), (K,))[0], own)
    np.testing.assert_array_equal(cr.vjp(states, K)[0], own)


def test_hessian_of_a_fit():
    data = np.sin(TIMES)

    def misfit(k):
        y = solved(k, t_eval=TIMES, **LESS).y[0]
        return np.sum((y - data) ** 2)

    hessian = cr.hessian(misfit)(K)
    expected = np.stack([checks.differences(cr.grad(misfit), (K,), (e,)) for e in np.eye(2)])
    np.testing.assert_allclose(hessian, expected, rtol=1e-4)


def test_states_that_nothing_depends_on():
    assert cr.grad(lambda k: 0.0 * np.sum(solved(k).y[:, 0]))(K).tolist() == [0.0, 0.0]
    assert cr.grad(lambda k: np.sum(solved(k).y[:, 0]))(K).tolist() == [0.0, 0.0]


# ---- what is refused, or goes wrong -------------------------------------------------------------


BOTH = pytest.mark.parametrize("transform", [cr.grad, by_jvp])


@BOTH
def test_a_solver_that_fails_warns(transform):
    """y' = y**2 has a pole at t = 1."""

    def end(k):
        return integrate.solve_ivp(lambda t, y: k * y * y, (0, 2), [1.0]).y[0, -1]

    with pytest.warns(RuntimeWarning, match=r"(?s)solve_ivp in test_integrate_init.* failed"):
        transform(end)(1.0)


@BOTH
def test_odeint_that_fails(transform):
    with (
        pytest.warns(plain.ODEintWarning),
        pytest.raises(RuntimeError, match=r"odeint in test_.*failed"),
    ):
        transform(lambda k: integrate.odeint(lambda y, t: k * y * y, 1.0, [0, 2.0])[-1, 0])(1.0)


@BOTH
def test_a_function_that_does_not_repeat_itself_warns(transform):
    rng = np.random.default_rng(0)

    def end(k, stop=1.0):
        noisy = lambda t, y: -k * y + 0.1 * rng.normal()  # noqa: E731
        return integrate.solve_ivp(noisy, (0, stop), [1.0], t_eval=[1.0]).y[0, 0]

    transform(end)(1.0)  # it runs once: the derivative is that of the numbers that were drawn
    with pytest.warns(RuntimeWarning, match=r"(?s)off by.*must give the same"):
        transform(lambda k: end(k, k))(1.0)


@BOTH
def test_a_solver_that_takes_no_step(transform):
    def end(k):
        def f(t, y):  # NaN from the beginning lets SciPy's Runge-Kutta methods run for ever
            return k * y if t == 1 else np.nan * y

        return integrate.solve_ivp(f, (1, 2), [1.0]).y[0, -1]

    with pytest.raises(RuntimeError, match=r"solve_ivp in test_.*took no step"):
        transform(end)(1.0)


@BOTH
def test_an_exception_of_the_users_arrives(transform):
    class MineError(Exception):
        pass

    def f(t, y, k):
        if t > 0.5:
            raise MineError("in the middle")
        return -k * y

    with pytest.raises(MineError, match="in the middle"):
        transform(lambda k: integrate.solve_ivp(f, (0, 1), [1.0], args=(k,)).y[0, -1])(1.0)
    end = lambda k: integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], **TIGHT).y[0, -1]  # noqa: E731
    assert transform(end)(1.0) == pytest.approx(-np.exp(-1))


@BOTH
def test_wrong_shapes_are_scipys_errors(transform):
    with pytest.raises(ValueError, match="t_eval"):
        transform(
            lambda k: integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], t_eval=[2.0]).y[0]
        )(1.0)
    with pytest.raises(ValueError, match=r"shape|broadcast"):
        transform(lambda k: integrate.solve_ivp(lambda t, y: [-k, k], (0, 1), [1.0]).y[0, -1])(1.0)
    with pytest.raises(ValueError, match="method"):
        transform(lambda k: integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], "RK").y[0, -1])(
            1.0
        )


cache: dict = {}


@BOTH
def test_a_traced_value_in_a_global(transform):
    def end(k):
        cache["k"] = k
        return integrate.solve_ivp(lambda t, y: -cache["k"] * y + k, (0, 1), [1.0]).y[0, -1]

    with pytest.raises(
        cr.LostDerivativeError, match=r"(?s)global.*initial_values.py.*pass it in args"
    ):
        transform(end)(1.0)


@BOTH
@pytest.mark.parametrize("name", ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_solver_classes(transform, name):
    cls = getattr(integrate, name)
    with pytest.raises(cr.MissingRuleError, match=rf"(?s){name} has no derivative.*solve_ivp"):
        transform(lambda k: cls(lambda t, y: -k * y, 0.0, np.stack([k]), 1.0))(1.0)
    assert issubclass(cls, getattr(plain, name))
    by_class = transform(
        lambda k: integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], cls, **LESS).y[0, -1]
    )
    assert by_class(1.0) == pytest.approx(-np.exp(-1), rel=1e-5)


@BOTH
def test_what_is_not_there_in_the_dense_output(transform):
    with pytest.raises(
        cr.MissingRuleError, match=r"(?s)interpolants.*initial_values.py.*write calls"
    ):
        transform(lambda k: solved(k * K, dense_output=True).sol.interpolants)(1.0)


@pytest.mark.parametrize("method", ["RK45", "BDF", "LSODA"])
@pytest.mark.parametrize("ends", [False, True])
def test_a_right_hand_side_that_writes_into_what_it_makes_of_the_state(method, ends):
    def rhs(t, s, k):
        r, v = s[:1], s[1:]
        a = -4.0 * r  # of which nothing moves with k
        a -= k * v
        return np.concatenate([v, a])

    def down(t, s, k):
        return s[0]

    down.terminal, down.direction = True, -1

    def end(p):
        found = integrate.solve_ivp(
            rhs, (0, 3), [1.0, p[1]], method, args=(p[0],), rtol=1e-10, atol=1e-10,
            events=down if ends else None,
        )  # fmt: skip
        return found.t_events[0][0] if ends else found.y[0, -1]

    p, step = np.array([0.3, 0.2]), 1e-4
    slopes = cr.grad(end)
    moved = [slopes(p + e) - slopes(p - e) for e in step * np.eye(2)]
    np.testing.assert_allclose(cr.hessian(end)(p), np.stack(moved) / (2 * step), atol=1e-4)
