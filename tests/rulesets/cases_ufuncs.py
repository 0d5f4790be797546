"""Cases of NumPy's ufuncs, and of their methods: made from the domain of each."""

import numpy as np

# Points of a function of one argument: where it is smooth. The others take the whole line.
LINE = (-0.6, 0.35, 1.3)
INSIDE = (-0.6, 0.35, 0.8)
POSITIVE = (0.6, 0.35, 1.3)
DOMAINS: dict = {
    np.arccos: INSIDE, np.arcsin: INSIDE, np.arctanh: INSIDE, np.arccosh: (1.6, 1.35, 2.3),
    np.log: POSITIVE, np.log2: POSITIVE, np.log10: POSITIVE, np.sqrt: POSITIVE,
}  # fmt: skip
INTEGERS = np.array([[5, 2, 9]])
OF_INTEGERS = {
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.bitwise_count, np.invert, np.gcd, np.lcm,
    np.left_shift, np.right_shift,
}  # fmt: skip


def with_zero_shapes(*points):
    """The same points as numbers, as arrays that broadcast, in float32, 0-d and empty."""
    columns = [np.array(p) for p in points]
    shaped = [p if i == 0 else p[::-1, None] + 0.083 for i, p in enumerate(columns)]
    return [
        *[(numbers, {}) for numbers in zip(*points)][:2],
        (tuple(columns), {}),
        (tuple(shaped), {}),
        ((float(points[0][1]), *shaped[1:]), {}),
        (tuple(p.astype(np.float32) for p in columns), {}),
        (tuple(np.array(p[0]) for p in columns), {}),
        (tuple(np.zeros((0, 2)) + p[0] for p in columns), {}),
    ]


def takes_complex(f):
    return any(kind.startswith("D" * f.nin + "->") for kind in f.types)


def cases_of(f):
    if f in OF_INTEGERS:
        return [((INTEGERS,) * f.nin, {}), ((INTEGERS, INTEGERS.T)[: f.nin], {})]
    if f is np.isnat:
        return [((np.array(["2020-01-01", "NaT"], "M8[D]"),), {})]
    if f is np.ldexp:
        return [((x, n), {}) for x in (0.35, np.array(LINE)) for n in (2, np.array([[1], [-2]]))]
    if f.nin == 1:
        cases = with_zero_shapes(DOMAINS.get(f, LINE))
    else:
        cases = with_zero_shapes((0.62, 0.35, 1.3), (0.4, 1.7, 0.55))
    if takes_complex(f):
        z = np.array([0.64 + 0.55j, 0.4 - 0.8j, 1.3 + 0.7j])
        cases += [((z, 1.1 - z[:2, None])[: f.nin], {}), ((z[0], 0.3 + 0.2j)[: f.nin], {})]
        if f.nin == 2:
            cases += [((z, np.array([0.4, 1.7, 0.55])), {}), ((0.58, z), {})]
    return cases


# Their arguments are matrices and vectors; see cases_linalg_and_fft.
OTHERS = {np.matmul, np.vecdot, *(getattr(np, n, np.matmul) for n in ("matvec", "vecmat"))}
UFUNCS = {f for f in vars(np).values() if isinstance(f, np.ufunc)} - OTHERS
CASES: dict = {f: cases_of(f) for f in sorted(UFUNCS, key=lambda f: f.__name__)}

# ---- methods -----------------------------------------------------------------------------------

A = np.array([[0.6, -0.35, 1.3], [0.8, 1.9, -0.7]])
POSITIVE_A = np.abs(A)
OF_BOOLS = {f for f in UFUNCS if f.nin == 2 and f.types[-1].endswith("->?")} | {np.equal}
OF_BOOLS |= {np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}
# Those whose rules take a fold of a few entries only where these are positive, or integers.
FOLDED = {np.power: POSITIVE_A, np.float_power: POSITIVE_A, np.fmod: POSITIVE_A * [7.3, 3.1, 1.5]}


def method_cases(ufunc, method):
    if ufunc is np.ldexp:
        second = {"outer": (INTEGERS,), "at": (1, 2)}.get(method)
        return [] if second is None else [((A, *second), {})]
    if ufunc in OF_INTEGERS:
        x = INTEGERS.T
    elif method in ("reduce", "accumulate", "reduceat") and ufunc in OF_BOOLS:
        x = A > 0.7
    else:
        x = FOLDED.get(ufunc, A if ufunc is not np.arctan2 else POSITIVE_A)
    if method == "outer":
        return [
            ((x[0], x[1] + 0.25 if x.dtype.kind == "f" else x[1]), {}),
            ((x, x[0, 0] + x.dtype.type(0.13 if x.dtype.kind == "f" else 0)), {}),
        ]
    if method == "reduceat":
        return [((x, [0, 1]), {"axis": 0}), ((x, [0]), {"axis": 1})]
    if method == "at":
        ints = np.array([0, 1, 0])
        return [((x, (ints, ints), np.array([0.5, 1.4, 0.7])), {}), ((x, 1, 0.4), {})]
    narrow = x.astype(np.float32) if x.dtype.kind == "f" else x
    return [((x,), {}), ((x,), {"axis": 1}), ((narrow,), {})]


def methods():
    """The methods that ufuncs have rules for, in an order that does not depend on addresses."""
    import chainrules as cr

    found = [f for f in cr.frule.methods if isinstance(getattr(f, "__self__", None), np.ufunc)]
    return sorted(found, key=lambda f: (f.__self__.__name__, f.__name__))


CASES |= {f: method_cases(f.__self__, f.__name__) for f in methods()}
# It takes no array of floats alone.
WITHOUT_CASES = {f for f in CASES if not CASES[f]}
CASES = {f: cases for f, cases in CASES.items() if cases}
# A product of complex numbers is rounded as many at once, or as each by itself.
BY_ANOTHER_WAY = {np.multiply.at}
WRITERS = {f for f in CASES if f.__name__ == "at"}
