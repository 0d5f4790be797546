"""Plain programs that failed, and branches that gave NaN."""

import numpy as np
from right_or_refused import may_refuse, same

import chainrules as cr


def test_hessian_of_a_trace():
    ours, right = cr.hessian(lambda a: np.trace(a) ** 2)(np.eye(2))[0, 0, 1, 1], 2.0
    same(right, ours)


def test_hessian_of_a_column_after_an_ellipsis():
    ours, right = (
        cr.hessian(lambda a: np.sum((a[..., [0]] - a[..., [1]]) ** 2))(np.ones((3, 2)))[0, 0, 0, 0],
        2.0,
    )
    same(right, ours)


def test_sparse_jacrev_of_a_trace():
    ours, right = cr.jacrev(np.trace, sparse=True)(np.ones((4, 4))).toarray().sum(), 4.0
    same(right, ours)


def test_function_that_adds_to_a_list_of_its_argument():
    def f(p):
        p["log"].append(1.0)
        return np.sum(p["w"] ** 2)

    ours, right = cr.grad(f)({"w": np.ones(2), "log": []})["w"], np.full(2, 2.0)
    same(right, ours)


def test_map_of_grad_of_such_functions_goes_to_the_end():
    def f(p):
        p["log"].append(1.0)
        return np.sum(p["w"] ** 2)

    ours, right = len(list(map(cr.grad(f), [{"w": np.ones(2), "log": []} for _ in range(3)]))), 3
    same(right, ours)


def test_linearize_of_a_write_into_a_0d_argument():
    def f(a):
        a[()] = a * a
        return a * 3.0

    ours, right = cr.linearize(f, np.array(2.0))[1](np.array(1.0)), 12.0
    same(right, ours)


def test_jacrev_through_map_with_captured_traced_values():
    x = np.arange(6.0).reshape(2, 3)
    f = lambda a: cr.map(lambda t: t * np.sum(a), a)
    ours, right = cr.jacrev(f)(x), cr.jacfwd(f)(x)
    same(right, ours)


def test_float32_array_by_true():
    ours, right = cr.grad(lambda a: np.sum(a * True))(np.ones(2, np.float32)), np.ones(2)
    same(right, ours)


def test_linearize_of_copyto_where():
    def f(c):
        v = np.add.outer(c, np.ones(3))
        np.copyto(v, c, where=np.eye(3, dtype=bool))
        return v

    ours, right = cr.linearize(f, np.ones(3))[1](np.ones(3)), np.ones((3, 3))
    same(right, ours)


def test_reduce_of_a_number_along_axis_0():
    ours = cr.jvp(lambda x: np.maximum.reduce(x, axis=0), (np.array(2.0),), (np.array(1.0),))[1]
    right = 1.0
    same(right, ours)


def test_reduce_of_a_number_in_a_block_of_directions():
    ours, right = (
        cr.linearize(lambda x: np.add.reduce(x, axis=0), 2.0)[1](np.ones(2), block=True),
        np.ones(2),
    )
    same(right, ours)


def test_cumulative_prod_of_a_number_along_axis_0():
    ours, right = (
        cr.grad(lambda x: np.sum(np.cumulative_prod(x, axis=0, include_initial=True)))(2.0),
        1.0,
    )
    same(right, ours)


@may_refuse
def test_iteration_over_a_zero_tangent_ends():
    import itertools

    ours, right = len(list(itertools.islice(cr.NoTangent(), 1000))) < 1000, True
    same(right, ours)


def test_containers_nested_500_deep():
    p = 2.0
    for _ in range(500):
        p = {"k": [p]}

    def f(p):
        while isinstance(p, dict):
            p = p["k"][0]
        return p * p

    cr.grad(f)(p)
    ours = right = 0
    same(right, ours)


def test_branch_that_was_written_over_gives_no_nan():
    def f(x):
        y = np.log(x)
        y[x <= 0] = 0.0
        return np.sum(y)

    with np.errstate(all="ignore"):
        ours, right = cr.grad(f)(np.array([0.0, 2.0])), np.array([0.0, 0.5])
    same(right, ours)


def test_branch_excluded_by_where_gives_no_nan():
    with np.errstate(all="ignore"):
        ours, right = (
            cr.grad(lambda x: np.sum(np.log(x), where=x > 0))(np.array([0.0, 2.0])),
            np.array([0.0, 0.5]),
        )
    same(right, ours)


def test_branch_not_selected_after_a_copy_gives_no_nan():
    with np.errstate(all="ignore"):
        ours, right = (
            cr.grad(lambda x: np.log(x).copy()[1])(np.array([0.0, 2.0])),
            np.array([0.0, 0.5]),
        )
    same(right, ours)


def test_all_of_an_array_is_overwritten_after_a_write_into_a_view_of_it():
    def f(x):
        b = np.sin(x[-1:])
        c = b[0]
        c *= 1.5
        b[0] = 0.0
        return np.mean(c) ** 2 + x[0, 0] ** 2

    x = np.array([[1.283, 0.483]])
    same(np.array([[2 * x[0, 0], 0.0]]), cr.grad(f)(x))
    same(np.array([[2 * x[0, 0], 0.0]]), cr.jacrev(f, sparse=True)(x).toarray())
    same(np.diag([2.0, 0.0]), cr.jacrev(cr.grad(f))(x).reshape(2, 2))
    same(np.diag([2.0, 0.0]), cr.hessian(f)(x).reshape(2, 2))
