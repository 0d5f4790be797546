"""All that a caller sees of a call: types, dtypes, memory and its sharing, bits, masks, errors."""

import copy
import warnings

import numpy as np
import scipy.sparse


class Own(np.ndarray):
    """A class of arrays with an attribute, as units and labels are made."""

    def __array_finalize__(self, other):
        self.unit = getattr(other, "unit", "m")


def seen(y, given=(), depth=0):
    """Describe ``y`` by plain values that can be compared; it may share memory with ``given``."""
    kind = original(type(y))
    if isinstance(y, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(y)
        filled = np.where(mask, np.zeros((), y.dtype), y.data)  # under the mask lies anything
        return (kind, *_array(y.data, given, filled), _array(mask, ()), y.hardmask)
    if isinstance(y, np.ndarray):
        return (kind, *_array(y, given), getattr(y, "unit", None))
    if isinstance(y, np.generic):
        return kind, y.dtype, repr(y) if y.dtype.char in "OVgG" else y.tobytes()
    if isinstance(y, float | complex | int | str | bytes | type(None) | np.dtype | range | slice):
        return kind, repr(y)
    if scipy.sparse.issparse(y):
        return kind, y.format, y.dtype, y.shape, seen(y.toarray())
    if depth < 4 and isinstance(y, tuple | list):
        return kind, *[seen(part, given, depth + 1) for part in y]
    if depth < 4 and isinstance(y, dict):
        return kind, *[(key, seen(part, given, depth + 1)) for key, part in y.items()]
    return (kind,)


def original(cls):
    """Return the class of SciPy that a stand-in is derived from."""
    if not cls.__module__.startswith("chainrules"):
        return cls
    return next(base for base in cls.__mro__ if not base.__module__.startswith("chainrules"))


def _array(y, given, filled=None):
    flags = [y.flags[name] for name in ("C", "F", "W", "A", "O")]
    entries = y if filled is None else filled
    # Objects are compared as they are shown, and long doubles, which have bytes of no meaning.
    plain = not y.dtype.hasobject and y.dtype.char not in "gG"
    bits = entries.tobytes() if plain else repr(list(entries.flat))
    strides = y.strides if y.size > 1 else None
    return y.dtype, y.shape, strides, *flags, bits, *[np.shares_memory(y, x) for x in given]


def outcome(f, args, kwargs=None):
    """Return all that a caller sees of a call of ``f`` with copies of these arguments."""
    args, kwargs = copied((args, kwargs or {}))
    given = [x for x in args if isinstance(x, np.ndarray) and not x.dtype.hasobject]
    np.random.seed(0)
    with warnings.catch_warnings(record=True) as said, np.errstate(all="warn"):
        warnings.simplefilter("always")
        try:
            y = f(*args, **kwargs)
            found = seen(y, given)
        except Exception as error:
            found = type(error).__name__
            y = None
    # In place of what was given the caller sees what the call made of it.
    same = [y is x for x in args]
    return found, same, seen(args), sorted({w.category.__name__ for w in said})


def copied(x):
    """Copy arrays with their class, order of memory and flags, in containers, too."""
    if isinstance(x, tuple | list) and type(x) in (tuple, list):
        return type(x)([copied(part) for part in x])
    if isinstance(x, dict) and type(x) is dict:
        return {key: copied(part) for key, part in x.items()}
    if isinstance(x, np.ndarray):
        return _as_laid_out(x)
    return x


def _as_laid_out(x):
    if x.base is None or x.flags.c_contiguous or x.flags.f_contiguous:
        y = copy.deepcopy(x) if x.flags.c_contiguous or not x.flags.f_contiguous else x.copy("F")
    else:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype).view(type(x))
        y = wide[..., ::2]
        y[...] = x
    if not x.flags.writeable:
        y.flags.writeable = False
    return y


def locked(x):
    x.flags.writeable = False
    return x


# What an array of float64 is made into.
KINDS = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "float32": lambda x: x.astype(np.float32),
    "big-endian": lambda x: x.astype(">f8"),
    "int": lambda x: np.round(4 * x).astype(int),
    "bool": lambda x: x > 0.5,
    "complex": lambda x: x * (1 + 0.5j),
    "object": lambda x: x.astype(object),
    "masked": lambda x: np.ma.masked_array(x, mask=x > 0.8),
    "matrix": lambda x: np.matrix(x) if x.ndim < 3 else x,
    "recarray": lambda x: np.rec.array(x),
    "own": lambda x: x.view(Own),
    "read-only": lambda x: locked(x.copy()),
    "list": lambda x: x.tolist(),
    "0-d": lambda x: np.array(x.reshape(-1)[0]) if x.size else x,
    "number": lambda x: x.reshape(-1)[0] if x.size else x,
    "float": lambda x: float(x.reshape(-1)[0]) if x.size else x,
    "empty": lambda x: x[:0] if x.ndim else x,
}
