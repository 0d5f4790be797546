"""Names that people bring along from other libraries, and what to write here."""

_RULE = "decorate the function with @cr.primitive, and register its rule with @cr."
_BRANCHES = "write Python's if, for and while: each call follows the way that its numbers take"

INSTEAD = {
    "check_grads": "write chainrules.testing.check_grad(f, x)",
    "cond": _BRANCHES,
    "custom_gradient": f"{_RULE}rrule.register(f)",
    "custom_jvp": f"{_RULE}frule.register(f)",
    "custom_vjp": f"{_RULE}rrule.register(f)",
    "defjvp": f"{_RULE}frule.register(f)",
    "defvjp": f"{_RULE}rrule.register(f)",
    "elementwise_grad": "write cr.grad(lambda x: np.sum(f(x)))",
    "fori_loop": "write cr.loop(n, step, carry), or Python's for",
    "Function": f"{_RULE}rrule.register(f)",
    "hessian_vector_product": "write cr.hvp(f, (x,), (v,))",
    "holomorphic_grad": "write cr.jacobian(f), which is complex where f is holomorphic",
    "jacobian_vector_product": "write y, ydot = cr.jvp(f, (x,), (xdot,))",
    "jit": "write cr.compile(f): what f does with its numbers is recorded, and run again",
    "make_hvp": "write cr.hvp(f, (x,), (v,))",
    "make_jvp": "write y, ydot = cr.jvp(f, (x,), (xdot,))",
    "make_vjp": "write y, pullback = cr.vjp(f, x)",
    "no_grad": "write cr.stop_gradient(x) for what is to be a constant",
    "tensor": "give NumPy's arrays and Python's numbers: nothing has to be converted",
    "tree_map": (
        "containers need no map: write params - 0.1 * gradient for an object, or use the vector "
        "and the way back of cr.flatten(params)"
    ),
    "vector_jacobian_product": "write y, pullback = cr.vjp(f, x)",
}
