"""Einsum of two operands as a product of matrices, which BLAS does.

``np.einsum("the,she->hts", q, k)`` multiplies one number after another; as ``matmul`` of stacks of
matrices, whose axes are those of the subscripts put together, it takes a tenth of the time.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...config.thresholds import EINSUM_MULTIPLICATIONS
from ...rules.linear.steps import Slot
from ..ir.forms import ValueForm
from ..ir.strides import has_order
from ..native import Operation
from ..native.assembly.operation import NO_OPTIONS

_KINDS = "fdFD"


class EinsumProduct(NamedTuple):
    """Einsum by ``matmul``: axes and shapes of both operands before it, and of the result after it.

    Examples
    --------
    >>> of = einsum_product("ij,kj->ki", (2, 3), (4, 3))
    >>> a, b = np.ones((2, 3)), np.ones((4, 3))
    >>> np.array_equal(of.moved(of.first(a) @ of.second(b)), np.einsum("ij,kj->ki", a, b))
    True
    """

    axes: tuple[tuple[int, ...], tuple[int, ...]]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    shape: tuple[int, ...]
    order: tuple[int, ...]

    def first(self, a: Any) -> Any:
        return np.reshape(np.transpose(a, self.axes[0]), self.shapes[0])

    def second(self, b: Any) -> Any:
        return np.reshape(np.transpose(b, self.axes[1]), self.shapes[1])

    def moved(self, y: Any) -> Any:
        return np.transpose(np.reshape(y, self.shape), self.order)


def einsum_product(subscripts: Any, a: tuple[int, ...], b: tuple[int, ...]) -> EinsumProduct | None:
    """Return the product that an einsum of arrays of these shapes is; None if it is none."""
    if type(subscripts) is not str:
        return None
    given, arrow, wanted = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    if len(terms) != 2 or not (given + wanted).replace(",", "").isalpha():
        return None
    both = terms[0] + terms[1]
    if not arrow:
        wanted = "".join(sorted(x for x in both if both.count(x) == 1))
    first, second = terms
    if any(len(set(term)) < len(term) for term in (first, second, wanted)):
        return None
    if len(first) != len(a) or len(second) != len(b) or not set(wanted) <= set(both):
        return None
    sizes = dict(zip(first, a, strict=True))
    if any(sizes.setdefault(x, n) != n for x, n in zip(second, b, strict=True)):
        return None
    stack = [x for x in wanted if x in first and x in second]
    summed = [x for x in first if x in second and x not in wanted]
    rows = [x for x in first if x not in second]
    columns = [x for x in second if x not in first]
    if not summed or not set(rows + columns) <= set(wanted) or 0 in sizes.values():
        return None

    def size(names: list[str]) -> int:
        return math.prod(sizes[x] for x in names)

    along = tuple(sizes[x] for x in stack)
    made = stack + rows + columns
    return EinsumProduct(
        (
            tuple(map(first.index, stack + rows + summed)),
            tuple(map(second.index, stack + summed + columns)),
        ),
        ((*along, size(rows), size(summed)), (*along, size(summed), size(columns))),
        tuple(sizes[x] for x in made),
        tuple(map(made.index, wanted)),
    )


class Einsum:
    """Einsum of two arrays by a product of matrices, with its result as it lies in memory."""

    def __init__(self, product: EinsumProduct, laid: Any) -> None:
        self.product, self.laid = product, laid
        self.__name__ = "matmul, as which einsum is done"

    def __call__(self, a: np.ndarray, b: np.ndarray) -> Any:
        of = self.product
        return self.laid(of.moved(np.matmul(of.first(a), of.second(b))))


def with_products(plan: dict[int, Operation], steps: list[Operation]) -> dict[int, Operation]:
    """Return a plan in which each einsum of two operands that is worth it is a product.

    How a result lies that is in neither order stays as it was where a step asks for that.
    """
    found = {}
    for position, step in plan.items():
        if step.function is np.einsum and (einsum := _einsum(step, steps)) is not None:
            operands, options = step.operands[1:], NO_OPTIONS
            found[position] = step._replace(function=einsum, operands=operands, options=options)
    if any(has_order((step.operands, step.options)) for step in plan.values() if found):
        found = {p: step for p, step in found.items() if step.form and step.form.order != "?"}
    return {**plan, **found} if found else plan


def _einsum(step: Operation, steps: list[Operation]) -> Einsum | None:
    subscripts, *operands = step.operands
    y, forms = step.form, [_form(x, steps) for x in operands]
    if len(operands) != 2 or step.options.keys() - {"optimize"} or None in (y, *forms):
        return None
    kinds = {np.dtype(form.kind) for form in (y, *forms) if form is not None}
    if len(kinds) != 1 or kinds.pop().char not in _KINDS or y is None:
        return None
    a, b = [form.shape for form in forms if form is not None]
    product = einsum_product(subscripts, a, b)
    if product is None:
        return None
    multiplications = math.prod(product.shapes[0]) * product.shapes[1][-1]
    if multiplications < EINSUM_MULTIPLICATIONS or not y.array:
        return None
    return Einsum(product, np.asfortranarray if y.order == "F" else np.ascontiguousarray)


def _form(x: Any, steps: list[Operation]) -> ValueForm | None:
    return steps[x.position].form if type(x) is Slot else ValueForm.of(x)
