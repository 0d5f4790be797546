"""Derivatives by a complex step: exact to rounding, for real functions that are analytic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .finite_differences import Estimate

__all__ = ["complex_step", "consistent"]

STEP = 2.0**-100  # small enough that its square vanishes beside any number


def complex_step(f: Callable[[complex], Any]) -> Estimate | None:
    """The derivative at 0 of a real function, as ``imag(f(i h)) / h``.

    Nothing is subtracted, so nothing cancels. It is right only for functions that are analytic
    and that compute with complex numbers as with real ones: not for ``abs``, ``conj``,
    comparisons. The caller compares with differences before it believes the answer.

    Parameters
    ----------
    f : callable
        From a complex number to the vector of the *imaginary parts* of the outputs.

    Returns
    -------
    Estimate or None
        None where ``f`` does not take complex numbers.

    Examples
    --------
    >>> import numpy as np
    >>> found = complex_step(lambda t: np.imag(np.exp(1 + t)))
    >>> bool(found.value == np.e)
    True
    """
    try:
        value = np.asarray(f(1j * STEP)) / STEP
    except Exception:  # any failure of a foreign function means only: not this way
        return None
    if value.dtype.kind != "f" or not np.all(np.isfinite(value)):
        return None
    error = 8 * np.finfo(value.dtype).eps * np.max(np.abs(value), initial=0.0)
    return Estimate(value, np.full_like(value, error), STEP, "complex step")


def consistent(exact: Estimate, differences: Estimate) -> bool:
    """Say whether a complex step agrees with finite differences, within their error."""
    scale = np.max(np.abs(differences.value), initial=0.0)
    allowed = 10 * differences.error + 1e-7 * scale
    if not np.all(np.isfinite(allowed)) or np.max(allowed, initial=0.0) > 1e-2 * scale + 1e-9:
        return False
    return bool(np.all(np.abs(exact.value - differences.value) <= allowed))
