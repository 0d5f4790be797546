"""Reverse mode: the tape; and second derivatives by forward over reverse."""

from . import derived
from .grad import grad, value_and_grad
from .jacrev import jacobian, jacrev
from .second_order import hessian, hvp
from .vjp import ReverseConfig, vjp
from .wirtinger import wirtinger

__all__ = [
    "ReverseConfig", "grad", "hessian", "hvp", "jacobian", "jacrev", "value_and_grad", "vjp",
    "wirtinger",
]  # fmt: skip
