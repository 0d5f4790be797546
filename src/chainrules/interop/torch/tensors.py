"""Tensors from NumPy's arrays, and arrays from tensors."""

from typing import Any

import numpy as np
import torch

from ...config import ExchangeError, user_line
from ...rules import describe


def is_inexact(x: torch.Tensor) -> bool:
    return x.dtype.is_floating_point or x.dtype.is_complex


def as_array(x: torch.Tensor) -> np.ndarray:
    """Return an array that shows the memory of a tensor.

    Raises
    ------
    TypeError
        If NumPy cannot: of a tensor on another device, of bfloat16, of a sparse one.
    """
    try:
        return x.detach().resolve_conj().resolve_neg().numpy()
    except (TypeError, RuntimeError) as error:
        if "Batching rule" in str(error):
            raise ExchangeError(
                "is_grads_batched=True and vectorize=True hand many cotangents to a function that "
                f"is not made for it, in {user_line()}.\n  write torch.func.jacrev or jacfwd"
            ) from error
        raise ExchangeError(
            f"a tensor of {x.dtype} on {x.device} is none that NumPy computes with, in "
            f"{user_line()}: {error}\n  convert it, for example by x.cpu(), x.float(), x.to_dense()"
        ) from error


def as_tensor(x: Any) -> torch.Tensor:
    """Return a tensor with a copy of a number or an array, which the user may write to later."""
    try:
        return torch.from_numpy(np.array(x))
    except TypeError as error:
        raise ExchangeError(
            f"{describe(x)} is no array that torch computes with, in {user_line()}: {error}\n"
            "  convert it, for example by x.astype(float)"
        ) from error
