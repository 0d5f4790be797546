"""Loops in adopted modules, whose functions give buffers: one step of a recording, too."""

import types

import numpy as np
import pytest

import chainrules as cr

pytest.importorskip("llvmlite")

STEPS = {
    "roll": "0.9 * np.roll(s, 1)",
    "where": "np.where(s > 1.0, 0.9 * s, s + 0.1)",
    "joined": "0.9 * np.concatenate([s[1:], s[:1]])",
    "stacked": "np.stack([s[1], s[2], s[0]])",
    "array": "np.array([s[1], 0.5 * s[2], s[0]])",
    "product": "0.9 * (np.eye(3) @ s)",
    "sums": "0.5 * np.cumsum(s)",
    "clipped": "np.clip(0.9 * s, 0.1, 2.0)",
    "made of zeros": "np.zeros(3) + 0.9 * s",
}
LOOPS = {
    "loop": "cr.loop(30, lambda s: STEP, x)",
    "scan": "cr.scan(lambda s, a: (STEP + a, s[0]), x, np.linspace(0.0, 0.1, 20))[0]",
    "while_loop": "cr.while_loop(lambda s: np.sum(s) > 0.5, lambda s: 0.5 * (STEP), x)",
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("step", STEPS)
def test_one_recording(step, loop):
    expression = LOOPS[loop].replace("STEP", STEPS[step])
    module = types.ModuleType("adopted_loops")
    exec(
        "import numpy as np\nimport chainrules as cr\n"
        f"def f(x):\n    return np.sum(np.sin({expression}))\n",
        vars(module),
    )
    with cr.adopt(module):
        gradient = cr.grad(module.f)
        compiled = cr.compile(gradient, fallback="error")
        for k in range(4):
            x = np.array([1.0, 2.0, 3.0]) + 0.1 * k
            np.testing.assert_allclose(compiled(x), gradient(x), rtol=1e-11, atol=1e-13)
