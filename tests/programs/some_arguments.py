"""Functions as functions of some of their arguments."""


def of_some(f, where, args):
    """``f`` as a function of its arguments at ``where`` alone, and these."""

    def g(*some):
        given = list(args)
        for i, x in zip(where, some, strict=True):
            given[i] = x
        return f(*given)

    return g, tuple(args[i] for i in where)
