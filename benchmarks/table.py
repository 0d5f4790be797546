"""The table that a run prints, and the same in Markdown: one row of figures per workload."""

from dataclasses import dataclass, field

OURS, COMPILED = "chainrules", "compiled"
AUTOGRAD, JAX, PYTORCH = "autograd", "JAX", "PyTorch"
JAX_JIT, OWN_LOOP = "JAX jit", "JAX loop"
BY_HAND = "by hand"
EAGER = (AUTOGRAD, JAX, PYTORCH)
COMPILERS = (JAX_JIT, OWN_LOOP)
PROGRAMS = (OURS, COMPILED, *EAGER, *COMPILERS, BY_HAND)
HEADINGS = (
    "eager", COMPILED, *(f"e / {name}" for name in (*EAGER, BY_HAND)), "memory",
    *(f"c / {name}" for name in (*COMPILERS, BY_HAND)), "first: c", "jit",
)  # fmt: skip


@dataclass
class Row:
    """Figures of one workload.

    ``seconds`` are of each program, ``ratios`` of ours as it is to each other program,
    ``compiled`` those of our compiled code, ``memory`` the ratio of peak memory to that by hand,
    ``first`` the seconds of first calls. ``met`` says of each target whether it is met. ``wrong``
    names programs that computed another result, ``failed`` maps programs that raised to their
    error, ``skipped`` those that weren't run to the reason; ``warned`` is what compiling said,
    ``how`` how compiled code runs. ``day`` and ``load`` say when it was, and how busy the machine.
    """

    name: str
    seconds: dict[str, float] = field(default_factory=dict)
    operations: int | None = None
    ratios: dict[str, float] = field(default_factory=dict)
    compiled: dict[str, float] = field(default_factory=dict)
    memory: float | None = None
    first: dict[str, float] = field(default_factory=dict)
    met: dict[str, bool] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)
    how: str = ""
    day: str = ""
    load: float = 0.0

    def __str__(self) -> str:
        cells = [f"{self.name:42}"]
        for heading, cell in zip(HEADINGS, self.cells(), strict=True):
            cells.append(f"{cell:>{max(8, len(heading))}}")
        return " ".join(cells) + "  " + ", ".join(self.notes())

    def cells(self) -> list[str]:
        """Return what stands below ``HEADINGS``."""
        figures = [self.ratios.get(name) for name in (*EAGER, BY_HAND)] + [self.memory]
        figures += [self.compiled.get(name) for name in (*COMPILERS, BY_HAND)]
        times = [self.seconds.get(name) for name in (OURS, COMPILED)]
        first = [self.first.get(name) for name in (COMPILED, JAX_JIT)]
        ratios = ["" if figure is None else f"{figure:.3g}" for figure in figures]
        return [*map(with_unit, times), *ratios, *map(with_unit, first)]

    def missed(self) -> list[str]:
        return [target for target, met in self.met.items() if not met]

    def notes(self) -> list[str]:
        held = sum(self.met.values())
        notes = [f"{held} met"] if held else []
        notes += [f"MISSED {target}" for target in self.missed()]
        each = self.seconds.get(OURS, 0.0) / (self.operations or 1)
        if self.operations and each < 1e-4:
            notes.append(f"{1e6 * each:.2f} us per operation")
        notes += [f"{x:.2f} of {name}" for name, x in self.ratios.items() if name not in PROGRAMS]
        notes += [f"{name} differs" for name in self.wrong]
        notes += [f"{name} fails: {error}" for name, error in self.failed.items()]
        return (
            notes
            + [f"no {name}: {reason}" for name, reason in self.skipped.items()]
            + [message.partition("\n")[0] for message in self.warned]
        )

    def markdown(self) -> str:
        return "| " + " | ".join([self.name, *self.cells(), ", ".join(self.missed())]) + " |"


def with_unit(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds >= 0.1:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} us"


def heading() -> str:
    return " ".join([f"{'workload':42}", *(f"{name:>8}" for name in HEADINGS)]) + "  targets"


def markdown_heading() -> str:
    names = ["workload", *HEADINGS, "targets missed"]
    return "| " + " | ".join(names) + " |\n|" + "---|" * len(names)
