"""Derivatives of a function of one number, by the transforms that take a direction or a weight."""

import chainrules as cr


def by_jvp(f):
    return lambda x: cr.jvp(f, (x,), (1.0,))[1]


def by_vjp(f):
    return lambda x: cr.vjp(f, x)[1](1.0)[0]


def by_linearize(f):
    return lambda x: cr.linearize(f, x)[1](1.0)
