"""What a workload is, and the peers that run it beside us."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

OURS = "chainrules"
BY_HAND = "by hand"
COMPARED = ("autograd", "PyTorch", BY_HAND)


def optional(name: str) -> Any:
    """Import a peer, or return None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


@dataclass
class Workload:
    """Programs that compute the same, one per library, and what is asked of ours.

    A program under any other name than those in ``COMPARED`` is a further reference of ours.
    ``operations`` is how many operations of the differentiated function one call runs.
    ``targets`` and ``memory_targets`` map another program's name to the largest ratio of
    ours to it that is good enough.
    """

    name: str
    operations: int
    programs: dict[str, Callable[[], Any]]
    targets: dict[str, float] = field(default_factory=dict)
    memory_targets: dict[str, float] = field(default_factory=dict)
    rtol: float = 1e-9

    def disagreements(self) -> list[str]:
        """Name the programs whose result is not that of ours."""
        expected = _numbers(self.programs[OURS]())
        results = {k: _numbers(self.programs[k]()) for k in COMPARED if k in self.programs}
        return [k for k, given in results.items() if not _close(expected, given, self.rtol)]


def _numbers(x: Any) -> list[np.ndarray]:
    if isinstance(x, tuple | list):
        return [number for part in x for number in _numbers(part)]
    return [np.asarray(x)]


def _close(expected: list, given: list, rtol: float) -> bool:
    return len(expected) == len(given) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=rtol * np.max(np.abs(a)))
        for a, b in zip(expected, given, strict=True)
    )


def gradients(
    function_in: Callable[[ModuleType], Callable], *args: Any, argnums: tuple[int, ...] = (0,)
) -> dict[str, Callable[[], Any]]:
    """Build each library's program for the value and the gradient of one function.

    ``function_in(namespace)`` is the function written with the names of ``numpy``,
    ``autograd.numpy`` or ``torch``. The PyTorch program gets tensors ready made, and
    calls its engine directly.
    """
    import chainrules as cr

    both = cr.value_and_grad(function_in(np), argnums)
    programs: dict[str, Callable] = {OURS: lambda: both(*args)}
    if (autograd := optional("autograd")) is not None:
        theirs = autograd.value_and_grad(function_in(autograd.numpy), argnums)
        programs["autograd"] = lambda: theirs(*args)
    if (torch := optional("torch")) is not None:
        function = function_in(torch)
        tensors = [tensor(torch, x) for x in args]
        inputs = [tensors[i].requires_grad_() for i in argnums]

        def torch_program() -> tuple:
            y = function(*tensors)
            return y.detach(), torch.autograd.grad(y, inputs)

        programs["PyTorch"] = torch_program
    return programs


def tensor(torch: Any, x: Any) -> Any:
    """Copy a number or an array into a tensor of the same dtype."""
    return torch.tensor(x, dtype=torch.float64 if isinstance(x, float) else None)
