"""Prices of derivatives as data, as a table and as a picture: the result of ``cr.cost``."""

import html
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..config import MissingPackageError, user_line
from ..config.printing import show

EAGER, COMPILED = "eager", "compiled"
TITLES = {1: "first derivative", 2: "second derivative"}
HEADINGS = ("values", "time", "compiled: values", "time", "first call")


class Price(NamedTuple):
    """Price of one derivative in one form.

    ``values`` is its CPU time in calls of the function, ``seconds`` its CPU time, ``first`` that of
    the first call, with what is compiled in it; each is None where nothing was measured, and
    ``note`` says why. ``order`` is 0 for the value, 1 and 2 for derivatives; ``whole`` says
    that it is all of the derivative, not a product with it. ``exact`` is False of differences.
    """

    name: str
    form: str
    order: int
    whole: bool
    exact: bool = True
    values: float | None = None
    seconds: float | None = None
    first: float | None = None
    note: str = ""


class Cost:
    """Prices of the derivatives of a function at a point: ``print`` it, or read ``rows``.

    ``cost["jacfwd"].values`` and ``cost["jacfwd", "compiled"].seconds`` are single figures;
    ``inputs`` and ``outputs`` count the numbers that are differentiated, and those that come out.
    """

    def __init__(self, call: str, inputs: int, outputs: int, rows: list[Price]) -> None:
        self.call = call
        self.inputs = inputs
        self.outputs = outputs
        self.rows = rows

    def __getitem__(self, key: str | tuple[str, str]) -> Price:
        name, form = key if isinstance(key, tuple) else (key, EAGER)
        for row in self.rows:
            if (row.name, row.form) == (name, form):
                return row
        known = ", ".join(dict.fromkeys(repr(row.name) for row in self.rows))
        raise KeyError(f"no price of {name!r}, {form}; there are those of {known}")

    def cheapest(
        self, order: int = 1, form: str | None = None, exact: bool | None = None
    ) -> Price | None:
        """Return the cheapest way to the whole derivative of this order, or None.

        Parameters
        ----------
        order : {1, 2}, optional
            Of the Jacobian or the gradient, or of the Hessian.
        form : {"eager", "compiled"}, optional
            The form alone that counts.
        exact : bool, optional
            Whether it is no difference, or is one.
        """
        found = [
            row
            for row in self.rows
            if row.values is not None
            and row.whole
            and row.order == order
            and form in (None, row.form)
            and exact in (None, row.exact)
        ]
        return min(found, key=lambda row: row.values or 0.0, default=None)

    # ---- text -----------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return list(dict.fromkeys(row.name for row in self.rows))

    def _cells(self, name: str) -> list[str]:
        forms = {row.form: row for row in self.rows if row.name == name}
        cells = [figure(forms[EAGER].values), with_unit(forms[EAGER].seconds)]
        if (compiled := forms.get(COMPILED)) is not None:
            cells += [figure(compiled.values), with_unit(compiled.seconds)]
            cells.append(with_unit(compiled.first))
        return cells + [""] * (len(HEADINGS) - len(cells))

    def _lines(self) -> list[list[str]]:
        """Return the table's rows that have a figure: the name, and what is below ``HEADINGS``."""
        lines = [[name, *self._cells(name)] for name in self._names()]
        return [line for line in lines if any(line[1:])]

    def _title(self) -> str:
        seconds = with_unit(self["value"].seconds)
        return f"{self.call}: {self._counts()}; the value takes {seconds} of CPU time"

    def _counts(self) -> str:
        return f"{_counted(self.inputs, 'input')}, {_counted(self.outputs, 'output')}"

    def _advice(self) -> Iterator[str]:
        for order, title in TITLES.items():
            ways = {
                "exact": self.cheapest(order, EAGER, exact=True),
                "differences": self.cheapest(order, EAGER, exact=False),
                COMPILED: self.cheapest(order, COMPILED),
            }
            found = [
                f"{word}: {row.name}, {figure(row.values)}" for word, row in ways.items() if row
            ]
            if found:
                yield f"cheapest {title} of {self._counts()}, in values: {'; '.join(found)}"

    def _notes(self) -> Iterator[str]:
        said: dict[str, list[str]] = {}
        for row in self.rows:
            if row.note:
                name = row.name if row.form == EAGER else f"{row.name} {row.form}"
                said.setdefault(row.note, []).append(name)
        for note, names in said.items():
            yield f"{', '.join(names)}: {note}"

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(("", *HEADINGS), *lines, strict=True)]
        rows = [["", *HEADINGS], *lines]
        table = [
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([self._title(), "", *table, "", *self._advice(), *self._notes()])

    __repr__ = __str__

    def __rich__(self) -> Any:
        """Return the table as rich draws it."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self._title(), title_justify="left", title_style="")
        table.add_column("", no_wrap=True)
        for heading in HEADINGS:
            table.add_column(heading, justify="right")
        best = {row.name for order in TITLES if (row := self.cheapest(order, EAGER))}
        for name, *cells in self._lines():
            table.add_row(name, *cells, style="bold" if name in best else "")
        return Group(table, *map(Text, [*self._advice(), *self._notes()]))

    def show(self) -> None:
        """Print the table, by rich where that is installed."""
        show(self)

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{html.escape(word)}</th>" for word in ("", *HEADINGS))
        rows = [
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
            for line in self._lines()
        ]
        below = "<br>".join(map(html.escape, [*self._advice(), *self._notes()]))
        return (
            f"<p>{html.escape(self._title())}</p><table><thead><tr>{heads}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table><p>{below}</p>"
        )

    # ---- a picture ------------------------------------------------------------------------------

    def plot(self, axes: Any = None) -> Any:
        """Draw the prices in values, eager and compiled, and return matplotlib's axes.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            The axes to draw into; a figure of their own by default.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingPackageError(
                f"a picture of prices needs matplotlib, which is not installed, in {user_line()}."
                '\n  pip install "chainrules[cost]", or print the table',
                name="matplotlib",
            ) from error
        names = [line[0] for line in self._lines()]
        if axes is None:
            axes = Figure(figsize=(7, 0.3 * len(names) + 1.2), layout="constrained").subplots()
        colors = {EAGER: "tab:blue", COMPILED: "tab:red"}
        for shift, (form, color) in zip((-0.2, 0.2), colors.items(), strict=True):
            bars = [r for r in self.rows if r.form == form and r.values is not None]
            places = [names.index(row.name) + shift for row in bars]
            if bars:
                values = [row.values for row in bars]
                axes.barh(places, values, height=0.36, color=color, label=form)
        axes.set_xscale("log")
        axes.axvline(1.0, color="0.6", linewidth=0.8)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xlabel("CPU time, in calls of the function")
        axes.set_title(f"{self.call}: {self._counts()}", fontsize=9)
        axes.legend(fontsize=8)
        return axes


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def figure(x: float | None) -> str:
    return "" if x is None else f"{x:.0f}" if x >= 99.95 else f"{x:.3g}"


def with_unit(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds >= 0.1:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} us"
