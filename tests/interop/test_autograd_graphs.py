"""Graphs of nodes, sparse cotangents, rules asked by hand: the drop-in beside autograd itself."""

import importlib
import warnings

import numpy as onp
import pytest

import chainrules as cr

X = onp.array([0.7, 1.9, 0.4])
A = onp.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.6, 0.1, 1.1]])


class Library:
    """autograd, or what stands for it here, by the names of its modules."""

    def __init__(self, package):
        self.core, self.tracer, self.np, self.extend, self.spaces = (
            importlib.import_module(f"{package}.{name}")
            for name in ("core", "tracer", "numpy", "extend", "numpy.numpy_vspaces")
        )
        self.grad = importlib.import_module(package).grad


OURS = Library("chainrules.interop.autograd")
PROGRAMS = {
    "a chain": lambda np, x: np.sum(np.sin(x) * x / (1.0 + x**2)),
    "entries": lambda np, x: x[0] * x[1] + x[2] * x[0] ** 2,
    "a product": lambda np, x: np.sum(np.dot(A, x) * np.exp(-x)),
    "lists": lambda np, x: np.sum(np.stack([x, 2.0 * x, x[::-1]])[1:] ** 2),
    "linear algebra": lambda np, x: np.sum(np.linalg.solve(A, x) ** 2) + np.linalg.norm(x),
    "a branch": lambda np, x: x[0] ** 3 if x[1] > 1.0 else x[2],
    "an index": lambda np, x: x[np.argmax(x)] * np.max(x) + np.floor(x[0]),
    "broadcasting": lambda np, x: np.mean(x[:, None] * np.cos(x)),
    "itself": lambda np, x: np.sum(x + x + x),
}


def traced_back(lib, f, x, g):
    y, node = lib.tracer.trace(lib.core.VJPNode.new_root(), f, x)
    return y, lib.core.backward_pass(g, node)


def traced_forward(lib, f, x, xdot):
    y, node = lib.tracer.trace(lib.core.JVPNode.new_root(xdot), f, x)
    return y, node.g


def by_boxes(lib, f, x, g):
    """As optimizers do it that run a function once, and pull several cotangents back."""
    box = lib.tracer.new_box(x, 0, lib.core.VJPNode.new_root())
    end = f(box)
    assert end._trace == box._trace
    g = lib.tracer.new_box(g, 0, lib.core.VJPNode.new_root())
    return end._value, lib.core.backward_pass(g, end._node)._value


@pytest.fixture(scope="module")
def theirs():
    pytest.importorskip("autograd")
    return Library("autograd")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("way", [traced_back, traced_forward, by_boxes])
def test_graphs_beside_autograd(name, way, theirs):
    if (name, way) == ("linear algebra", traced_forward):
        pytest.skip("autograd has no jvp of solve")
    direction = onp.array([0.5, -1.0, 2.0]) if way is traced_forward else onp.array(1.3)
    found, expected = (
        way(lib, lambda x, np=lib.np: PROGRAMS[name](np, x), X, direction) for lib in (OURS, theirs)
    )
    for ours, autograds in zip(found, expected, strict=True):
        onp.testing.assert_allclose(ours, autograds, rtol=1e-12)


def test_graphs_without_autograd():
    for name, program in PROGRAMS.items():
        f = lambda x, program=program: program(OURS.np, x)  # noqa: E731
        expected = cr.grad(f)(X)
        onp.testing.assert_allclose(traced_back(OURS, f, X, 1.0)[1], expected, err_msg=name)
        slope = traced_forward(OURS, f, X, X)[1]
        onp.testing.assert_allclose(slope, onp.dot(expected, X), err_msg=name)


def test_a_graph_inside_of_a_transform_and_of_a_graph():
    def inner(x):
        return traced_back(OURS, lambda t: OURS.np.sum(t**3 * x[0]), x, 1.0)[1]

    expected = cr.jacobian(lambda x: 3 * x**2 * x[0])(X)
    onp.testing.assert_allclose(cr.jacobian(inner)(X), expected)
    rows = [traced_back(OURS, lambda x, k=k: inner(x)[k], X, 1.0)[1] for k in range(3)]
    onp.testing.assert_allclose(rows, expected)


def test_two_inputs_of_one_trace():
    for lib in (OURS, pytest.importorskip("autograd") and Library("autograd")):
        with lib.tracer.trace_stack.new_trace() as trace:
            a, b = (lib.core.VJPNode.new_root() for _ in range(2))
            end = lib.tracer.new_box(3.0, trace, a) * lib.tracer.new_box(2.0, trace, b)
        assert len(end._node.parents) == 2
        assert [float(x) for x in end._node.vjp(1.0)] == [2.0, 3.0]
        assert lib.tracer.isbox(end)


def test_nodes_of_ones_own_see_each_call():
    seen = []

    class Printed(OURS.tracer.Node):
        __slots__ = ("name",)

        def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
            self.name = f"{fun.__name__}({', '.join(p.name for p in parents)})"
            seen.append((fun.__name__, parent_argnums, kwargs))

        def initialize_root(self, name):
            self.name = name

    f = lambda x: OURS.np.sum(x * OURS.np.sin(x), axis=0) + 1.0  # noqa: E731
    y, node = OURS.tracer.trace(Printed.new_root("x"), f, X)
    assert node.name == "add(sum(multiply(x, sin(x))))"
    assert seen[1][:2] == ("multiply", (0, 1))
    assert y == f(X)


def test_cotangents_of_dtypes_numbers_and_empty_arrays(theirs):
    square = lambda lib: lambda z: lib.np.sum(lib.np.real(z * z * lib.np.conj(z)))  # noqa: E731
    for x in (X.astype(onp.float32), X + 1j * X[::-1], onp.zeros(0), onp.array(2.0), X[:, None]):
        found, expected = (traced_back(lib, square(lib), x, 1.0)[1] for lib in (OURS, theirs))
        onp.testing.assert_allclose(found, expected, rtol=1e-6)
        assert onp.asarray(found).dtype == x.dtype


def sparse_square(lib):
    first = lib.extend.primitive(lambda x: x[0] ** 2)

    def vjpmaker(ans, x):
        def vjp(g):
            def mut_add(xbar):
                onp.add.at(xbar, 0, 2.0 * g * x[0])
                return xbar

            return lib.extend.SparseObject(lib.extend.vspace(x), mut_add)

        return vjp

    lib.extend.defvjp(first, vjpmaker)
    return first


def test_sparse_cotangents(theirs):
    for lib in (OURS, theirs):
        first = sparse_square(lib)
        f = lambda x, first=first, np=lib.np: first(x) * x[1] + np.sum(x)  # noqa: E731
        onp.testing.assert_allclose(lib.grad(f)(X), [1 + 2 * 0.7 * 1.9, 1 + 0.49, 1.0])
        space = lib.extend.vspace(X)
        sparse = lib.extend.SparseObject(space, lambda x: x.__iadd__(2.0))
        assert lib.core.vspace(sparse) == space
        onp.testing.assert_array_equal(lib.core.sparse_add(space, None, sparse), 2 * onp.ones(3))
        total, mutable = lib.core.add_outgrads(lib.core.add_outgrads(None, X), sparse)
        onp.testing.assert_array_equal(total, X + 2.0)
        assert mutable
        onp.testing.assert_allclose(lib.core.sum_outgrads([X, sparse, X]), 2 * X + 2.0)
    onp.testing.assert_array_equal(X, [0.7, 1.9, 0.4])  # nobody wrote into it
    second = cr.hessian(sparse_square(OURS))(X)
    onp.testing.assert_allclose(second, onp.diag([2.0, 0.0, 0.0]))


def test_rules_asked_by_hand(theirs):
    for lib in (OURS, theirs):
        vjps, jvps = lib.core.primitive_vjps, lib.core.primitive_jvps
        y = lib.np.multiply(X, 2.0)
        (xbar,) = vjps[lib.np.multiply]((0,), y, (X, 2.0), {})(X)
        onp.testing.assert_allclose(xbar, 2 * X)
        ydot = jvps[lib.np.multiply]((0, 1), (X, 1.0), y, (X, 2.0), {})
        onp.testing.assert_allclose(ydot, 3 * X)
        assert lib.np.sin in vjps
        triple = lib.extend.primitive(lambda x: 3.0 * x)
        lib.extend.defvjp(triple, lambda ans, x: lambda g: 30.0 * g)
        assert [*vjps[triple]((0,), 6.0, (2.0,), {})(1.0)] == [30.0]
        vjps[triple] = lambda argnums, ans, args, kwargs: lambda g: (7.0 * g,)
        assert lib.grad(triple)(2.0) == 7.0
        with pytest.raises(KeyError):
            _ = vjps[len]
    assert OURS.core.primitive_vjps.get(len) is None


def test_orders_of_nodes(theirs):
    class N:
        def __init__(self, *parents):
            self.parents = parents

    a = N()
    b, c = N(a), N(a, a)
    d = N(b, c, a)
    for lib in (OURS, theirs):
        order = list(lib.tracer.toposort(d))
        assert order[0] is d
        assert order[-1] is a
        assert {*order[1:3]} == {b, c}


def test_a_function_of_something_else_warns():
    with pytest.warns(UserWarning, match="seems independent"):
        y, node = OURS.tracer.trace(OURS.core.VJPNode.new_root(), lambda x: 2.0, X)
    assert (y, node) == (2.0, None)


def test_spaces_of_arrays(theirs):
    for lib in (OURS, theirs):
        real, complex_ = lib.extend.vspace(X), lib.extend.vspace(X + 1j)
        assert isinstance(real, lib.spaces.ArrayVSpace)
        assert not isinstance(real, lib.spaces.ComplexArrayVSpace)
        assert isinstance(complex_, lib.spaces.ComplexArrayVSpace)
        assert lib.spaces.ArrayVSpace(X) == real
        assert not isinstance(lib.extend.vspace((X, X)), lib.spaces.ArrayVSpace)


ROOT = OURS.core.VJPNode.new_root
REFUSED = {
    "an integer": (lambda: OURS.tracer.new_box(3, 0, ROOT()), "array of floats, and no int"),
    "a tuple": (lambda: OURS.tracer.new_box((X, X), 0, ROOT()), "array of floats, and no tuple"),
    "several results": (
        lambda: OURS.tracer.trace(ROOT(), lambda x: OURS.np.linalg.eigh(x)[0][0], A + A.T),
        "numpy.linalg.eigh gives a .*make_vjp",
    ),
    "a function inside": (
        lambda: OURS.tracer.trace(ROOT(), lambda x: cr.map(lambda t: t * x[0], x), X),
        "calls a function.*make_vjp",
    ),
    "an abstract node": (lambda: OURS.core.Node.new_root(), "says nowhere what it keeps of an in"),
    "a node that keeps nothing": (
        lambda: OURS.tracer.trace(type("N", (OURS.core.Node,), {
            "initialize_root": lambda self: None,
        }).new_root(), OURS.np.sin, X),
        "N says nowhere what it keeps of a call",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_graph_does_not_hold_is_refused(name):
    program, message = REFUSED[name]
    with pytest.raises(TypeError, match=f"(?s){message}"):
        program()


def test_a_write_is_refused():
    def f(x):
        x[0] = 1.0
        return OURS.np.sum(x)

    with pytest.raises(cr.MutationError, match="Graph cannot follow writes"):
        OURS.tracer.trace(ROOT(), f, X)


def test_nothing_is_left_of_a_trace_by_number():
    from chainrules.interop.autograd import graph

    box = OURS.tracer.new_box(2.0, 17, ROOT())
    assert 17 in graph._numbered
    del box
    assert 17 not in graph._numbered
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced_back(OURS, OURS.np.sum, X, 1.0)
