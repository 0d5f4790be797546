"""Transforms of a function ``f(p)`` of an array, with its number as result, by their names."""

import numpy as np

import chainrules as cr

TRANSFORMS = {
    "value": lambda f: f,
    "grad": cr.grad,
    "jvp": lambda f: lambda p: cr.jvp(f, (p,), (np.cos(p),)),
    "hvp": lambda f: lambda p: cr.hvp(f, (p,), (np.cos(p),)),
    "hessian": cr.hessian,
    "jacrev": lambda f: cr.jacrev(lambda p: np.stack([f(p), p[0]])),
    "jacfwd": cr.jacfwd,
    "linearize": lambda f: lambda p: cr.linearize(f, p)[1](np.cos(p)),
    "reverse over reverse": lambda f: cr.grad(lambda p: np.sum(np.sin(cr.grad(f)(p)))),
    "third": lambda f: cr.jacobian(cr.hessian(f)),
}
USUAL = ("grad", "jvp", "hvp", "hessian", "jacrev")
