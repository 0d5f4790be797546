"""Arrays with named fields: read as constants, and refused where they would hold traced numbers."""

import numpy as np
import pytest

import chainrules as cr
from chainrules import numpy as mirror

PAIR = np.dtype([("u", float), ("v", float, (2,))])
RECORDS = np.zeros(3, PAIR)
RECORDS["u"] = [1.0, 2.0, 3.0]
RECORDS["v"] = [[1.0, 2.0], [0.5, 0.0], [2.0, 1.0]]
X = np.array([1.0, 2.0, 3.0])
TRANSFORMS = [cr.grad, cr.jacfwd]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_constants_are_read_by_field(transform):
    def f(x):
        return np.sum(RECORDS["u"] * x) + RECORDS[0]["v"] @ x[:2] ** 2

    np.testing.assert_allclose(transform(f)(X), RECORDS["u"] + [2.0, 8.0, 0.0])


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("x", [RECORDS, RECORDS[0]])
def test_as_arguments_they_are_refused_with_the_dict_to_write(transform, x):
    def f(r):
        return np.sum(r["u"] ** 2)

    with pytest.raises(TypeError, match=r"give a dict: \{k: x\[k\] for k in x\.dtype\.names\}"):
        transform(f)(x)
    fields = {k: x[k] for k in x.dtype.names}
    np.testing.assert_allclose(cr.grad(f)(fields)["u"], 2 * x["u"])


def written(write):
    def f(x):
        records = mirror.zeros(3, PAIR)
        write(records, x)
        return np.sum(records["u"])

    return f


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(
    "write",
    [
        lambda records, x: records.__setitem__("u", x),
        lambda records, x: records["u"].__setitem__(1, x[0]),
        lambda records, x: records["v"].__setitem__((slice(None), 0), x),
        lambda records, x: records.__setitem__(0, (x[0], [1.0, 2.0])),
    ],
)
def test_writes_are_refused(transform, write):
    with pytest.raises(cr.ChainRulesError, match=r"test_named_fields\.py"):
        transform(written(write))(X)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_line_of_a_write_says_to_keep_the_fields_apart(transform):
    def by_name(x):
        records = mirror.zeros(3, PAIR)
        records["u"] = x
        return np.sum(records["u"])

    def within(x):
        records = mirror.zeros(3, PAIR)
        records["v"][0, 1] = x[0]
        return np.sum(records["v"])

    def by_row(x):
        records = mirror.zeros(3, PAIR)
        records[0] = (x[0], [1.0, 2.0])
        return np.sum(records["u"])

    for f in (by_name, within, by_row):
        with pytest.raises(cr.LostDerivativeError, match="keep the fields in a dict of arrays"):
            transform(f)(X)


NO_NUMBERS = {
    "fields": lambda x: mirror.array([(x[0], x[1])], dtype=[("u", float), ("v", float)])["u"][0],
    "fields of full": lambda x: np.sum(mirror.full(2, x[0], dtype=[("u", float)])["u"]),
    "text": lambda x: np.sum(x.astype(str).astype(float)),
    "bytes": lambda x: np.sum(mirror.asarray(x, dtype="S8").astype(float)),
    "times": lambda x: np.sum(x.astype("datetime64[s]").astype(float)),
    "spans of time": lambda x: np.sum(x.astype("m8[s]").astype(float)),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", NO_NUMBERS)
def test_conversions_to_what_is_no_number_are_refused(transform, name):
    """From text, times and fields numbers can be made again: the derivative was lost there."""
    with pytest.raises(cr.LostDerivativeError, match="it is no dtype of numbers"):
        transform(NO_NUMBERS[name])(X)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_integers_and_truths_are_constants_as_before(transform):
    def f(x):
        return np.sum(x.astype(int) * x) + np.sum(x.astype(bool) * x)

    np.testing.assert_allclose(transform(f)(X), X + 1.0)


def test_a_text_that_is_evaluated():
    with pytest.raises(cr.LostDerivativeError, match="the text was that of a traced value"):
        cr.grad(lambda x: eval(f"2 * {x!r}"))(1.5)
