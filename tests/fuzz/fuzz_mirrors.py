"""Calls of mirrors with nothing traced, with arguments of mixed kinds, beside the originals."""

import sys
from pathlib import Path

from fuzz_oracle import CHECKS, Failure
from fuzz_program import Program
from hypothesis import strategies as st

CORE = str(Path(__file__).parents[1] / "core")
sys.path.append(CORE)

import test_mirrors_are_originals as mirrors  # noqa: E402
from seen_by_a_caller import KINDS, outcome  # noqa: E402

ARGUMENTS = [
    "A",
    "B",
    "V",
    "A[0]",
    "A[:, None]",
    "A[..., :2]",
    "V[:0]",
    "V[1:]",
    "A.T",
    "1",
    "0",
    "-1",
]
OPTIONS = (
    """
axis=0|axis=-1|axis=1|axis=None|keepdims=True|dtype=float|dtype='f4'|dtype=complex|order='F'|order='K'
subok=True|copy=False|ndmin=2|out=A.copy()|where=A > 0.5|k=1|n=2|indices_or_sections=1|initial=0.3
axis=(0, 1)|casting='unsafe'|fill_value=0.3|return_index=True|mode='wrap'|kind='stable'|like=A
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
KINDS_OF_NUMPY = [kind for kind in KINDS if kind != "big-endian"]


@st.composite
def programs(draw):
    module = draw(st.sampled_from(["numpy"] * 6 + ["numpy.linalg", "numpy.fft", "math", "cmath"]))
    word = draw(st.sampled_from([word for word, _, _ in mirrors.pairs(module)]))
    count = draw(st.sampled_from([1, 1, 2, 2, 3]))
    args = []
    for _ in range(count):
        made, kind = draw(st.sampled_from(ARGUMENTS)), draw(st.sampled_from(KINDS_OF_NUMPY))
        args.append(f"of('{kind}', {made})")
    if draw(st.integers(0, 4)) == 0:
        args[0] = f"[{args[0]}, {draw(st.sampled_from(['A', 'B', 'V']))}]"
    options = draw(st.sets(st.sampled_from(OPTIONS), max_size=2)) if module != "math" else ()
    options = {option.partition("=")[0]: option for option in sorted(options)}
    call = f"call('{module}', '{word}', {', '.join([*args, *options.values()])})"
    return Program((), (), "None", (call,), "mirror")


def of(kind, x):
    return mirrors.as_kind(x, kind)


def call(module, word, *args, **kwargs):
    _, f, g = next(pair for pair in mirrors.pairs(module) if pair[0] == word)
    expected, found = outcome(f, args, kwargs), outcome(g, args, kwargs)
    if expected != found and expected == outcome(f, args, kwargs):
        raise Failure(f"{module}.{word} of a mirror", f"{found} for {expected}"[:300])


def mirror(program):
    space = {"of": of, "call": call, "A": mirrors.A, "B": mirrors.B, "V": mirrors.V}
    try:
        exec(program.setup[0], space)
    except Failure as failure:
        yield failure


CHECKS["mirror"] = mirror
