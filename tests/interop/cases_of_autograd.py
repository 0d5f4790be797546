"""Programs for autograd, which are run on autograd itself and on the drop-in.

Each takes ``ag``, the module ``autograd``, and ``np``, its ``numpy``.
"""

import importlib

import numpy as onp

X = onp.array([0.3, 0.5, 1.2])
V = onp.array([1.0, -2.0, 0.5])
Z = X * (1 + 0.5j)
M = onp.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.0, 0.3, 1.1]])


def module(ag, name):
    return importlib.import_module(f"{ag.__name__}.{name}")


def loss(np):
    return lambda x: np.sum(np.sin(x) * x**2)


def vector(np):
    return lambda x: np.sin(x) * np.sum(x)


def pair(np):
    return lambda a, b: np.sum(a * b**2) * a[0]


def real_of_complex(np):
    return lambda z: np.sum(np.abs(z) ** 2 * np.real(z))


def complex_of_complex(np):
    return lambda z: np.conj(z) * z**2


def tree(np):
    return lambda p: np.sum(p["a"] * p["b"][0]) * p["b"][1]


TREE = {"a": X, "b": [V, 2.0]}

OPERATORS = {
    "grad": lambda ag, np: ag.grad(loss(np))(X),
    "grad, argnum": lambda ag, np: ag.grad(pair(np), 1)(X, V),
    "grad, tuple": lambda ag, np: ag.grad(pair(np), (0, 1))(X, V),
    "grad, list": lambda ag, np: ag.grad(pair(np), argnum=[1, 0])(X, V),
    "grad of a float": lambda ag, np: ag.grad(np.tanh)(0.3),
    "grad of a tree": lambda ag, np: ag.grad(tree(np))(TREE),
    "grad of one entry": lambda ag, np: ag.grad(lambda x: np.array([np.sum(x**2)]))(X),
    "grad, four times": lambda ag, np: ag.grad(ag.grad(ag.grad(ag.grad(np.sin))))(0.3),
    "grad of grad of a tree": lambda ag, np: ag.grad(
        lambda p: np.sum(ag.grad(tree(np))(p)["a"] ** 2)
    )(TREE),
    "value_and_grad": lambda ag, np: ag.value_and_grad(loss(np))(X),
    "elementwise_grad": lambda ag, np: ag.elementwise_grad(np.tanh)(X),
    "elementwise_grad, twice": lambda ag, np: ag.elementwise_grad(ag.elementwise_grad(np.sin))(X),
    "deriv": lambda ag, np: ag.deriv(np.tanh)(0.3),
    "deriv of complex": lambda ag, np: ag.deriv(lambda z: z**2)(1 + 2j),
    "jacobian": lambda ag, np: ag.jacobian(vector(np))(X),
    "jacobian, argnum": lambda ag, np: ag.jacobian(lambda a, b: a * np.sum(b), 1)(X, V),
    "jacobian of an array of entries": lambda ag, np: ag.jacobian(
        lambda x: np.array([x[0] * x[1], np.sin(x[2])])
    )(X),
    "jacobian, complex": lambda ag, np: ag.jacobian(lambda z: np.real(z * z * z[0]))(Z),
    "hessian": lambda ag, np: ag.hessian(loss(np))(X),
    "hessian of a vector": lambda ag, np: ag.hessian(vector(np))(X),
    "hessian of a matrix": lambda ag, np: ag.hessian(lambda a: np.sum(np.linalg.inv(a)))(M),
    "third": lambda ag, np: ag.jacobian(ag.hessian(loss(np)))(X),
    "hessian_vector_product": lambda ag, np: ag.hessian_vector_product(loss(np))(X, V),
    "hessian_vector_product, argnum": lambda ag, np: ag.hessian_vector_product(pair(np), 1)(
        X, V, V
    ),
    "hessian_tensor_product": lambda ag, np: ag.hessian_tensor_product(
        lambda a: np.sum(np.sin(a)) * np.sum(a**2)
    )(M, M**2),
    "tensor_jacobian_product": lambda ag, np: ag.tensor_jacobian_product(vector(np))(X, V),
    "vector_jacobian_product": lambda ag, np: ag.vector_jacobian_product(vector(np))(X, V),
    "make_vjp": lambda ag, np: [f(V) if callable(f) else f for f in ag.make_vjp(vector(np))(X)],
    "make_jvp": lambda ag, np: ag.make_jvp(vector(np))(X)(V),
    "make_jvp, tuple": lambda ag, np: ag.make_jvp(pair(np), (0, 1))(X, V)((V, X)),
    "make_hvp": lambda ag, np: [f(V) if callable(f) else f for f in ag.make_hvp(loss(np))(X)],
    "make_jvp_reversemode": lambda ag, np: ag.differential_operators.make_jvp_reversemode(
        vector(np)
    )(X)(V),
    "make_ggnvp": lambda ag, np: ag.make_ggnvp(vector(np))(X)(V),
    "make_ggnvp, with g": lambda ag, np: ag.make_ggnvp(vector(np), lambda y: np.sum(np.exp(y)))(X)(
        V
    ),
    "grad_and_aux": lambda ag, np: ag.grad_and_aux(lambda x: (np.sum(x**2), x * 2))(X),
    "grad of grad_and_aux": lambda ag, np: ag.grad(
        lambda x: np.sum(np.prod(np.stack(ag.grad_and_aux(lambda x: (np.sum(x**3), x * 2))(x)), 0))
    )(X),
    "grad_named": lambda ag, np: ag.grad_named(pair(np), "b")(X, V),
    "checkpoint": lambda ag, np: ag.grad(ag.checkpoint(loss(np)))(X),
    "holomorphic_grad": lambda ag, np: ag.holomorphic_grad(lambda z: z[0] ** 2 * z[1])(Z),
    "holomorphic_grad, twice": lambda ag, np: ag.holomorphic_grad(
        ag.holomorphic_grad(lambda z: z**3)
    )(1 + 2j),
    "grad, complex": lambda ag, np: ag.grad(real_of_complex(np))(Z),
    "value_and_grad, complex": lambda ag, np: ag.value_and_grad(real_of_complex(np))(Z),
    "grad of a real part": lambda ag, np: ag.grad(
        lambda x: np.real(np.sum(np.exp(1j * x)) * (1 + 2j))
    )(X),
    "grad through a complex grad": lambda ag, np: ag.grad(
        lambda x: np.real(ag.grad(lambda z: np.sum(np.abs(z) ** 4))(x * (1 + 2j))[0])
    )(X),
    "elementwise_grad, complex": lambda ag, np: ag.elementwise_grad(lambda z: np.imag(z**2))(Z),
    "make_vjp, complex": lambda ag, np: ag.make_vjp(complex_of_complex(np))(Z)[0](Z * (1 + 2j)),
    "make_jvp, complex": lambda ag, np: ag.make_jvp(complex_of_complex(np))(Z)(Z * 1j),
    "make_vjp of make_vjp, complex": lambda ag, np: ag.make_vjp(
        lambda z: ag.make_vjp(complex_of_complex(np))(z)[0](z * (1 + 1j))
    )(Z)[0](Z * 1j),
    "make_hvp, complex": lambda ag, np: ag.make_hvp(
        lambda z: np.sum(np.abs(z) ** 4) * np.real(z[0])
    )(Z)[0](Z * 1j),
    "grad of a tree, complex": lambda ag, np: ag.grad(
        lambda p: np.real(p["a"][0] * np.sum(p["b"]))
    )({"a": Z, "b": X}),
}


def softmax_regression(ag, np):
    x, labels = onp.outer(X, V), onp.eye(3)

    def loss(w):
        logits = np.dot(x, w)
        logits = logits - ag.scipy.special.logsumexp(logits, axis=1, keepdims=True)
        return -np.mean(np.sum(labels * logits, axis=1))

    return ag.value_and_grad(loss)(M), ag.hessian(loss)(M)


def network(ag, np):
    def predict(params, x):
        for w, b in params:
            x = np.tanh(np.dot(x, w) + b)
        return x

    params = [(M, X), (M.T, V), (onp.ones((3, 1)), onp.zeros(1))]
    return ag.grad(lambda p: np.sum(predict(p, onp.outer(V, X)) ** 2))(params)


def recurrent(ag, np):
    def run(w):
        h, hs = X, []
        for _ in range(4):
            h = np.tanh(np.dot(w, h) + 0.1)
            hs.append(h)
        return np.sum(np.concatenate(hs)) + np.sum(np.vstack(hs) ** 2)

    return ag.grad(run)(M), ag.hessian(run)(M)


def gaussian_process(ag, np):
    y = onp.cos(X)

    def likelihood(theta):
        d = np.expand_dims(X, 0) - np.expand_dims(X, 1)
        k = np.exp(theta[0]) * np.exp(-0.5 * d**2 / np.exp(theta[1])) + 0.1 * np.eye(3)
        return ag.scipy.stats.multivariate_normal.logpdf(y, theta[2] * np.ones(3), k)

    # The symmetric way that the covariance moves is the same in autograd's convention and in ours.
    return ag.value_and_grad(likelihood)(onp.array([0.1, 0.2, 0.3]))


def eigenvalues(ag, np):
    def spread(a):
        values, vectors = np.linalg.eigh(np.dot(a, a.T))
        return values[-1] - values[0] + vectors[0, 0] ** 2

    return ag.grad(spread)(M)


def mixture(ag, np):
    data = onp.linspace(-1, 3, 7)

    def log_likelihood(p):
        normalized = p["log_weights"] - ag.scipy.special.logsumexp(p["log_weights"])
        parts = [
            w + ag.scipy.stats.norm.logpdf(data, m, np.exp(s))
            for w, m, s in zip(normalized, p["means"], p["log_scales"])
        ]
        return np.sum(ag.scipy.special.logsumexp(np.vstack(parts), axis=0))

    return ag.grad(log_likelihood)({"log_weights": X, "means": V, "log_scales": X / 2})


def fixed_point(ag, np):
    iterate = module(ag, "misc.fixed_points").fixed_point
    newton = lambda a: lambda x: 0.5 * (x + a / x)  # noqa: E731
    root = lambda a: iterate(newton, a, 1.0, lambda x, y: np.abs(x - y), 1e-13)  # noqa: E731
    return ag.grad(root)(2.0), ag.grad(ag.grad(root))(2.0)


def own_primitive(ag, np):
    @ag.extend.primitive
    def logsumexp(x):
        largest = onp.max(x)
        return largest + onp.log(onp.sum(onp.exp(x - largest)))

    ag.extend.defvjp(logsumexp, lambda ans, x: lambda g: np.full(x.shape, g) * np.exp(x - ans))
    f = lambda x: logsumexp(np.sin(x)) ** 2  # noqa: E731
    return ag.grad(f)(X), ag.hessian(f)(X)


def own_forward_rules(ag, np):
    @ag.extend.primitive
    def product(a, b):
        return onp.multiply(a, b)

    ag.extend.defjvp(product, "same", lambda g, ans, a, b: product(a, g))
    f = lambda x: product(np.sin(x), x)  # noqa: E731
    return ag.make_jvp(f)(X)(V), ag.make_jvp(lambda x: ag.make_jvp(f)(x)(V)[1])(X)(V)


def own_complex_primitive(ag, np):
    @ag.extend.primitive
    def rotate(z, angle):
        return onp.asarray(z) * onp.exp(1j * onp.asarray(angle))

    ag.extend.defvjp(
        rotate,
        lambda ans, z, angle: lambda g: g * np.exp(1j * angle),
        lambda ans, z, angle: lambda g: np.real(np.sum(g * 1j * ans)),
    )
    f = lambda z, a: np.sum(np.real(rotate(z, a) ** 2))  # noqa: E731
    return ag.grad(f, (0, 1))(Z, 0.3)


def boxes(ag, np):
    def f(p):
        kind = ag.builtins.type(p)
        parts = [p[key] for key in p] if kind is dict else list(p)
        return sum(np.sum(x**2) for x in parts if ag.builtins.isinstance(x, (float, onp.ndarray)))

    return ag.grad(f)({"a": X, "b": 2.0}), ag.grad(f)([X, 3.0])


def flattened(ag, np):
    flat, unflatten, start = module(ag, "misc.flatten").flatten_func(ag.grad(tree(np)), TREE)
    vector, back = module(ag, "misc.flatten").flatten(TREE)
    return (
        flat(start),
        start,
        unflatten(2 * start),
        vector,
        ag.grad(lambda v: np.sum(back(v)["a"] ** 3) * back(v)["b"][1])(vector),
    )


def optimized(ag, np):
    known = module(ag, "misc.optimizers")
    slope = ag.grad(lambda p: np.sum((p["a"] - V) ** 2) + np.sin(p["b"][0]))
    return [
        optimize(lambda p, i: slope(p), {"a": X, "b": [0.3]}, num_iters=20)
        for optimize in (known.sgd, known.rmsprop, known.adam)
    ]


def spaces(ag, np):
    space = ag.extend.vspace({"a": X, "b": (Z, 2.0)})
    x = {"a": V, "b": (Z * 1j, 3.0)}
    return [
        int(space.size), space.zeros(), space.ones(), space.add(x, x), space.scalar_mul(x, 2.0),
        space.inner_prod(x, space.ones()), space.covector(x), len(list(space.standard_basis())),
    ]  # fmt: skip


def convolution(ag, np):
    images = onp.random.default_rng(0).normal(size=(2, 2, 5, 6))
    filters = onp.random.default_rng(1).normal(size=(2, 3, 2, 3))

    def f(images, filters):
        y = ag.scipy.signal.convolve(
            images, filters, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid"
        )
        return np.sum(y**2)

    return ag.grad(f, (0, 1))(images, filters)


def ordinary_differential_equation(ag, np):
    t = onp.linspace(0, 1, 5)
    f = lambda y, t, k: -k * y  # noqa: E731
    solve = lambda k: np.sum(ag.scipy.integrate.odeint(f, X, t, ag.builtins.tuple((k,)))[-1])  # noqa: E731
    return ag.grad(solve)(0.5)


PROGRAMS = [
    softmax_regression,
    network,
    recurrent,
    gaussian_process,
    eigenvalues,
    mixture,
    fixed_point,
    own_primitive,
    own_forward_rules,
    own_complex_primitive,
    boxes,
    flattened,
    optimized,
    spaces,
    convolution,
    ordinary_differential_equation,
]
