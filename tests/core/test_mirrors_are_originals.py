"""Functions of mirrors, given nothing traced, beside the originals: all that a caller can see.

Every public name of NumPy, math, cmath and SciPy's modules, on arguments of all kinds.
"""

import glob
import importlib
from pathlib import Path

import numpy as np
import pytest
from seen_by_a_caller import KINDS, outcome

pytestmark = pytest.mark.filterwarnings("ignore")
NUMPY = ["numpy", "numpy.linalg", "numpy.fft", "math", "cmath"]
SCIPY = [
    "fft",
    "fftpack",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "sparse.linalg",
    "spatial",
    "spatial.distance",
    "spatial.transform",
    "special",
    "stats",
]

# What acts on the process or on files, or gives memory that nothing was written to.
LEFT_OUT = {
    "test",
    "show_config",
    "show_runtime",
    "info",
    "get_include",
    "seterr",
    "seterrcall",
    "setbufsize",
    "errstate",
    "printoptions",
    "set_printoptions",
    "save",
    "savez",
    "savez_compressed",
    "savetxt",
    "load",
    "loadtxt",
    "genfromtxt",
    "fromregex",
    "fromfile",
    "memmap",
    "set_backend",
    "set_global_backend",
    "set_workers",
    "register_backend",
    "skip_backend",
    "empty",
    "empty_like",
}
# NumPy itself ends the process on some of these arguments.
LEFT_OUT |= {"dstack", "bincount"}

A = np.array([[0.3, 0.7, 1.1], [0.9, 0.5, 0.2], [1.3, 0.1, 0.6]])
B = np.array([[0.8, 0.4, 0.6], [0.2, 1.5, 0.3], [0.7, 0.9, 1.2]])
V = np.array([0.4, 1.2, 0.9])
GENERIC = [(A,), (V,), (A, B), (V, V), (A, 1), (A, B, V), (np.sin, V)]


def names_of(module):
    public = getattr(module, "__all__", [n for n in dir(module) if not n.startswith("_")])
    return [n for n in sorted(set(public) - LEFT_OUT) if callable(getattr(module, n))]


def pairs(name):
    """Yield each name of a module with the original and the mirror, where these are two."""
    original, mirror = (importlib.import_module(n) for n in (name, f"chainrules.{name}"))
    for word in names_of(original):
        f, g = getattr(original, word), getattr(mirror, word, None)
        if f is not g:
            yield word, f, g


def as_kind(x, kind):
    return KINDS[kind](x) if type(x) is np.ndarray and x.dtype == np.float64 else x


# Mirrors with a body of their own where nothing is traced.
KNOWN: set[str] = set()


def differing(name, kinds, calls_of):
    """Return what differs of each public name of a module, without those that are known to."""
    found = {}
    for word, f, g in pairs(name):
        if different := list(differences(f, g, calls_of(f, g), kinds)):
            found[f"{name}.{word}"] = different
    known = {word for word in KNOWN if word.rpartition(".")[0] == name}
    assert known <= set(found), "what differed does so no more: strike it"
    return {word: different for word, different in found.items() if word not in known}


def differences(f, g, calls, kinds):
    for args, kwargs in calls:
        for kind in kinds:
            given = [as_kind(x, kind) for x in args]
            options = {name: as_kind(x, kind) for name, x in kwargs.items()}
            expected = outcome(f, given, options)
            found = outcome(g, given, options)
            # Some of SciPy's functions draw random numbers, or return what lay in memory.
            if expected != found and expected == outcome(f, given, options):
                yield kind, [np.shape(x) for x in args if not callable(x)], expected, found


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMPY)
def test_numpy_and_math(name):
    calls = [(args, {}) for args in GENERIC]
    assert {} == differing(name, KINDS, lambda f, g: calls)


def cases():
    """The arguments that the rules of SciPy's functions are tested with."""
    found = {}
    for path in glob.glob(str(Path(__file__).parents[1] / "rulesets" / "cases_s*.py")):
        found.update(getattr(importlib.import_module(Path(path).stem), "CASES", {}))
    return found


# SciPy itself ends the process on some matrices (`linalg.ldl`) and objects (`squareform`), and on
# arguments that do not fit.
OF_SCIPY = ["C", "F", "strided", "float32", "complex", "masked", "own", "read-only", "list"]


@pytest.mark.parametrize("name", SCIPY)
def test_scipy(name):
    known = cases()

    def calls(f, g):
        return next((known[h][:2] for h in (f, g) if hashable(h) and h in known), [])

    assert {} == differing(f"scipy.{name}", OF_SCIPY, calls)


def hashable(f):
    return getattr(type(f), "__hash__", None) is not None


@pytest.mark.parametrize("name", NUMPY + [f"scipy.{name}" for name in SCIPY])
def test_names_of_one_function_are_one_function(name):
    original = importlib.import_module(name)
    mirror = importlib.import_module(f"chainrules.{name}")
    shown = {}
    for word in names_of(original):
        shown.setdefault(id(getattr(original, word)), set()).add(word)
    twice = [
        words for words in shown.values() if len({id(getattr(mirror, word)) for word in words}) > 1
    ]
    assert not twice


def test_scipy_has_its_other_names():
    original, mirror = (importlib.import_module(name) for name in ("scipy", "chainrules.scipy"))
    assert (original.constants, original.__version__) == (mirror.constants, mirror.__version__)
    assert not hasattr(mirror, "__wrapped__")
