"""Names of adopted functions that are written into: new arrays that they hold are buffers."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules_of_text import module_of, slope
from programs_that_write import text_of

import chainrules as cr
from chainrules._written_names import IF_NEW, with_buffers

pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="references are not counted there: refused in words"
)

SOURCE = """
import numpy as np

A = np.array([1.0, 2.0, 3.0])
KEPT = []


class Model:
    def __init__(self):
        self.data = A

    def run(self, t):
        z = 2 * self.data
        z[0] = t
        return z


def fill(z, t):
    z[0] = t


def operator_(t):
    z = 2 * A
    z[0] = t
    return z

def augmented(t):
    z = A / 2
    z += t
    z[1:] *= t
    return z

def default(t, B=A):
    z = B.copy()
    z[[0, 2]] -= t
    return z

def truths(t):
    z = (np.arange(3.0) > 1) * 1.0
    z[z > 0.5] = t
    return z

def casts(t):
    z = np.arange(3).astype(float)
    z[-1] = t
    return z

def grids(t):
    X, Y = np.meshgrid(A, A)
    Y = 2 * Y
    X[0], Y[:, 1] = t, t * t
    return X * Y

def chosen(t):
    z = A[A > 1]
    z -= t
    return z

def aliased(t):
    z = -A
    w = z
    w[0] = t
    return z

def viewed(t):
    z = A + 1
    part = z[1:]
    part[0] = t
    return z

def of_no_own_name(t):
    z = (A + 1).reshape(3, 1).T
    z[0, 1] = t
    return z

def called(t):
    z = A + 1
    fill(z, t)
    np.add(z, t, out=z)
    return z

def branches(t):
    z = A * 2 if t > 0 else A * 3
    z[0] = t
    return z

def nested(t):
    def inner():
        z = np.outer(A, A)
        z[0] = t
        return z
    return inner()

def captured(t):
    z = A * 2
    def write():
        z[0] = t
    write()
    return z

def kept_later(t):
    z = A * 2
    KEPT[:] = [z]
    z[0] = t
    return KEPT[0]

def single(t):
    z = A.astype(np.float32) * 2
    z[0] = t
    return z

def complexes(t):
    z = A * 1j
    z[0] = t
    z += 1j * t
    return np.abs(z)

def nothing(t):
    z = A[:0] * 2
    z[:] = t
    return np.append(z, t)

def in_a_loop(t):
    z = A * 2
    for k in range(3):
        z[k] *= t
        z = z + A
    return z

def of_an_object(t):
    return Model().run(t)
"""
RIGHT = [line.split()[1].partition("(")[0] for line in SOURCE.splitlines() if line[:4] == "def "][
    1:
]


@pytest.fixture
def module():
    made = module_of(SOURCE, "arrays_of_operators")
    with cr.adopt(made):
        yield made


@pytest.mark.parametrize("name", RIGHT)
def test_new_arrays_take_traced_values(module, name):
    f = getattr(module_of(SOURCE, "plain"), name)
    adopted = getattr(module, name)
    expected = f(0.7)
    with np.errstate(all="ignore"):
        slopes = slope(lambda t: np.asarray(f(t), float), 0.7)
    y, ydot = cr.jvp(adopted, (0.7,), (1.0,))
    np.testing.assert_array_equal(y, expected)
    assert y.dtype == expected.dtype
    rough = {"rtol": 1e-2, "atol": 1e-2} if y.dtype == np.float32 else {"rtol": 1e-6, "atol": 1e-8}
    np.testing.assert_allclose(ydot, slopes, **rough)
    np.testing.assert_allclose(cr.jacrev(adopted)(0.7), ydot, rtol=1e-6)
    twice = cr.jacfwd(cr.jacrev(adopted))(0.7)
    np.testing.assert_allclose(twice, cr.jacrev(cr.jacfwd(adopted))(0.7), rtol=1e-6)
    np.testing.assert_array_equal(adopted(0.7), expected)
    np.testing.assert_array_equal(module.A, [1.0, 2.0, 3.0])


OTHERS = """
import numpy as np

A = np.array([1.0, 2.0, 3.0])
KEPT = {}


def everybodys(t):
    z = A
    z[0] = t

def parameter(t, z=np.ones(3)):
    z += t

def view(t):
    z = A.reshape(3, 1)
    z[0] = t

def kept(t):
    KEPT["z"] = A * 2
    z = KEPT["z"]
    z[0] = t

def in_a_dict(t):
    KEPT["z"] = A * 2
    KEPT["z"][0] = t
"""


@pytest.mark.parametrize("name", ["everybodys", "parameter", "view", "kept", "in_a_dict"])
def test_what_others_hold_is_refused(name):
    made = module_of(OTHERS, "arrays_of_others")
    with cr.adopt(made), pytest.raises((cr.MutationError, cr.LostDerivativeError)):
        cr.jvp(getattr(made, name), (0.7,), (1.0,))
    np.testing.assert_array_equal(made.A, [1.0, 2.0, 3.0])


def test_the_refusal_names_the_line_that_made_the_array(tmp_path, monkeypatch):
    source = (
        "import numpy as np\nA = np.ones(3)\ndef f(t):\n    z = A\n    z[0] = t\n    return z\n"
    )
    (tmp_path / "module_of_others.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    import module_of_others

    with cr.adopt(module_of_others), pytest.raises(cr.LostDerivativeError) as caught:
        cr.jvp(module_of_others.f, (0.7,), (1.0,))
    said = str(caught.value)
    assert "module_of_others.py:5" in said
    assert "z, bound in line 4, is an array that others hold as well" in said
    assert "write z = np.copy(z) first" in said


@pytest.mark.parametrize("mode", ["grad", "jvp", "plain"])
@settings(max_examples=150)
@given(draws=st.randoms(use_true_random=False))
def test_random_programs_are_right_or_refused(mode, draws):
    text = text_of(draws)
    f = module_of(text, "plain").f
    try:
        y, slopes = f(0.7), slope(f, 0.7)
    except Exception:
        return  # plain NumPy refuses it, too
    made = module_of(text, "adopted")
    with cr.adopt(made):
        try:
            if mode == "plain":
                value, derivative = made.f(0.7), slopes
            elif mode == "grad":
                value, derivative = cr.value_and_grad(made.f)(0.7)
            else:
                value, derivative = cr.jvp(made.f, (0.7,), (1.0,))
        except (cr.MutationError, cr.LostDerivativeError):
            return
    np.testing.assert_allclose(value, y, rtol=1e-9, err_msg=text)
    np.testing.assert_allclose(derivative, slopes, rtol=1e-4, atol=1e-5, err_msg=text)


def test_code_that_writes_into_nothing_stays_the_same():
    def f(x):
        s = 0.0
        for k in range(3):
            s = s + x * k
        return s

    assert with_buffers(f.__code__) is f.__code__
    assert pickle.loads(pickle.dumps(IF_NEW)) is IF_NEW
