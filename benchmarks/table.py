"""The table that a run prints, and the same in Markdown: one row of figures per workload."""

from dataclasses import dataclass, field
from typing import Any

OURS = "chainrules"
AUTOGRAD, JAX, JAX_JIT, PYTORCH = "autograd", "JAX", "JAX jit", "PyTorch"
BY_HAND, MEMORY = "by hand", "memory"
PEERS = (AUTOGRAD, JAX, JAX_JIT, PYTORCH)
COLUMNS = (*PEERS, BY_HAND)


@dataclass
class Row:
    """Figures of one workload; ``ratios`` are of ours to each other program.

    ``memory`` is the ratio of peak memory to that by hand. ``met`` says of each target whether
    it is met. ``wrong`` names programs that computed another result, ``failed`` maps programs
    that raised to their error, ``skipped`` those that weren't run to the reason. ``details`` are
    for the JSON file only.
    """

    name: str
    seconds: float | None = None
    operations: int | None = None
    ratios: dict[str, float] = field(default_factory=dict)
    memory: float | None = None
    met: dict[str, bool] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        taken = per_operation = ""
        if self.seconds is not None:
            taken = f"{1e6 * self.seconds:.1f}"
            if self.operations is not None:
                per_operation = f"{1e6 * self.seconds / self.operations:.2f}"
        cells = [f"{self.name:42} {taken:>10} {per_operation:>8}"]
        cells += [f"{cell:>8}" for cell in self.cells()]
        return " ".join(cells) + "  " + ", ".join(self.notes())

    def cells(self) -> list[str]:
        """Return the columns of ratios: the peers, by hand, and memory by hand."""
        figures = [self.ratios.get(column) for column in COLUMNS] + [self.memory]
        return ["" if figure is None else f"{figure:.3g}" for figure in figures]

    def missed(self) -> list[str]:
        return [target for target, met in self.met.items() if not met]

    def notes(self) -> list[str]:
        held = sum(self.met.values())
        notes = [f"{held} met"] if held else []
        notes += [f"MISSED {target}" for target in self.missed()]
        notes += [f"{x:.2f} of {name}" for name, x in self.ratios.items() if name not in COLUMNS]
        notes += [f"{name} differs" for name in self.wrong]
        notes += [f"{name} fails: {error}" for name, error in self.failed.items()]
        return notes + [f"no {name}: {reason}" for name, reason in self.skipped.items()]

    def markdown(self) -> str:
        seconds = "" if self.seconds is None else _with_unit(self.seconds)
        missed = ", ".join(self.missed())
        return "| " + " | ".join([self.name, seconds, *self.cells(), missed]) + " |"


def _with_unit(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} us"


def heading() -> str:
    above = f"{'':42} {'ours':>10} {'per op.':>8} {'ratio of ours to':>20}"
    below = f"{'workload':42} {'us':>10} {'us':>8}"
    columns = " ".join(f"{name:>8}" for name in (*COLUMNS, MEMORY))
    return f"{above}\n{below} {columns}  targets"


def markdown_heading() -> str:
    names = ["workload", "ours", *(f"/ {name}" for name in COLUMNS), MEMORY, "targets missed"]
    return "| " + " | ".join(names) + " |\n|" + "---|" * len(names)
