"""Index expressions of every form, read and written, of 0-d to 4-d arrays."""

from fuzz_values import Scope, inputs, literals
from hypothesis import strategies as st

RANKS = [(), (2,), (3,), (2, 3), (3, 3), (2, 2), (1, 3), (2, 3, 2), (2, 2, 2), (1, 2, 3, 2)]


@st.composite
def slices(draw, n):
    start = draw(st.sampled_from(["", *map(str, range(-n, n))]))
    stop = draw(st.sampled_from(["", *map(str, range(-n, n + 1))]))
    step = draw(st.sampled_from(["", ":1", ":2", ":-1", ":-2"]))
    return f"{start}:{stop}{step}"


@st.composite
def on_axis(draw, n, fancy, basic):
    """An index of one axis of length ``n``; ``fancy`` is the length that lists have."""
    kinds = ["int", "slice", "all", "slice"] + ([] if basic else ["list", "list", "bool"])
    kind = draw(st.sampled_from(kinds))
    if kind == "int":
        return str(draw(st.integers(-n, n - 1)))
    if kind == "slice":
        return draw(slices(n))
    if kind == "list":
        entry = st.integers(-n, n - 1)
        entries = draw(st.lists(entry, min_size=fancy, max_size=fancy))
        return draw(st.sampled_from([f"{entries}", f"np.array({entries})"]))
    if kind == "bool":
        mask = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        return f"np.array({mask})"
    return ":"


@st.composite
def indices(draw, shape, basic=False):
    """The text between the brackets."""
    if not basic and shape and draw(st.integers(0, 9)) == 0:
        rng = draw(st.integers(0, 99))
        return f"np.random.default_rng({rng}).random({shape}) > 0.4"
    fancy = draw(st.integers(1, 3))
    parts = [draw(on_axis(n, fancy, basic)) for n in shape]
    if draw(st.integers(0, 2)) == 0:  # an ellipsis for some of the axes, or for none
        start = draw(st.integers(0, len(parts)))
        stop = draw(st.integers(start, len(parts)))
        parts[start:stop] = ["..."]
    elif parts and draw(st.booleans()):
        parts = parts[: draw(st.integers(1, len(parts)))]
    if draw(st.integers(0, 3)) == 0:
        parts.insert(draw(st.integers(0, len(parts))), "None")
    return ", ".join(parts) or draw(st.sampled_from(["()", "...", "None"]))


VALUES = ["x * 2.0", "0.7", "np.sin(x)[{i}]", "x[{i}] * x[{i}]"]


@st.composite
def programs(draw):
    """``x[index]``, read or written."""
    expression = draw(inputs(RANKS, ["C", "C", "C", "F", "float32", "complex"]))
    scope = Scope([("x", expression)])
    shape = getattr(scope["x"], "shape", ())
    index = draw(indices(shape))
    if draw(st.booleans()):
        line = draw(st.sampled_from(["y = x[{i}]", "y = (x * x)[{i}]", "y = x.T[{i}]"]))
        scope.add(line.format(i=index), "y")
    else:
        scope.add(
            draw(st.sampled_from(["y = x * 1.0", "y = x.copy()", "y = np.zeros_like(x)"])), "y"
        )
        value = draw(st.sampled_from(VALUES)).format(i=index)
        word = draw(st.sampled_from(["=", "=", "+=", "*="]))
        if draw(st.integers(0, 4)):
            scope.add(f"y[{index}] {word} {value}")
        else:
            scope.add(f"np.add.at(y, ({index},), {value})")
    if "y" not in scope.names:
        return scope.program("x * x")
    y = scope["y"]
    weights = draw(literals(getattr(y, "shape", ())))
    return scope.program(draw(st.sampled_from(["y ** 3", "y", f"np.sum(y * y * {weights})"])))
