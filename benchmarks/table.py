"""The table that a run prints: one row of figures per workload."""

from dataclasses import dataclass, field
from typing import Any

PEERS = ("autograd", "PyTorch")
COLUMNS = (*PEERS, "by hand")


@dataclass
class Row:
    """Figures of one workload; ``ratios`` are of ours to each other program.

    ``met`` says of each target whether it is met. ``wrong`` names programs that computed another
    result. ``details`` are for the JSON file only.
    """

    name: str
    seconds: float | None = None
    operations: int | None = None
    ratios: dict[str, float] = field(default_factory=dict)
    met: dict[str, bool] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        taken = per_operation = ""
        if self.seconds is not None:
            taken = f"{1e6 * self.seconds:.1f}"
            if self.operations is not None:
                per_operation = f"{1e6 * self.seconds / self.operations:.2f}"
        cells = [f"{self.name:42} {taken:>10} {per_operation:>8}"]
        cells += [f"{self._ratio(column):>13}" for column in COLUMNS]
        notes = [f"{target}: {'met' if met else 'MISSED'}" for target, met in self.met.items()]
        notes += [f"{x:.2f} of {name}" for name, x in self.ratios.items() if name not in COLUMNS]
        return " ".join(cells) + "  " + ", ".join(notes)

    def _ratio(self, column: str) -> str:
        if column in self.ratios:
            return f"{self.ratios[column]:.3f}"
        return "not installed" if self.operations is not None and column in PEERS else ""


def heading() -> str:
    above = f"{'':42} {'ours':>10} {'per op.':>8} {'ratio of ours to':>20}"
    below = f"{'workload':42} {'us':>10} {'us':>8}"
    return f"{above}\n{below} " + " ".join(f"{name:>13}" for name in COLUMNS) + "  targets: at most"
