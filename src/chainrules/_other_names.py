"""Names that people bring along from other libraries, and what to write here."""

_RULE = "decorate the function with @cr.primitive, and register its rule with @cr."

INSTEAD = {
    "check_grads": "write chainrules.testing.check_grad(f, x)",
    "custom_jvp": f"{_RULE}frule.register(f)",
    "custom_vjp": f"{_RULE}rrule.register(f)",
    "defjvp": f"{_RULE}frule.register(f)",
    "defvjp": f"{_RULE}rrule.register(f)",
    "elementwise_grad": "write cr.grad(lambda x: np.sum(f(x)))",
    "Function": f"{_RULE}rrule.register(f)",
    "hessian_vector_product": "write cr.hvp(f, (x,), (v,))",
    "jit": "write cr.compile(f): what f does with its numbers is recorded, and run again",
    "make_hvp": "write cr.hvp(f, (x,), (v,))",
    "make_jvp": "write y, ydot = cr.jvp(f, (x,), (xdot,))",
    "make_vjp": "write y, pullback = cr.vjp(f, x)",
    "no_grad": "write cr.stop_gradient(x) for what is to be a constant",
    "tree_map": (
        "containers need no map: write params - 0.1 * gradient for an object, or use the vector "
        "and the way back of cr.flatten(params)"
    ),
    "vmap": (
        "write f for an array with one more axis, or np.vectorize(f), or cr.map(f, xs); many "
        "directions at once take cr.linearize(f, x)[1](xdots, block=True)"
    ),
}
