"""Second-order sections of filters: made of zeros and poles, and factored into these."""

import numpy as np
from scipy import optimize, signal

from .....config import MissingRuleError, user_line
from .... import composed, library_value, value
from .filters import array
from .responses import vector
from .systems import tf2zpk


def places_of(roots, sections):
    """For each section, which of the ``roots`` SciPy has put there; zeros may have been added.

    That is a choice among the roots, so that it does not move with them.
    """
    own = [np.roots(section) for section in sections]
    every = np.concatenate([np.zeros(0), *own])
    padded = np.concatenate([roots, np.zeros(len(every) - len(roots))])
    _, places = optimize.linear_sum_assignment(np.abs(every[:, None] - padded))
    return np.split(places, np.cumsum([len(part) for part in own])[:-1])


def multiplied_out(roots, sections):
    """The polynomial of the roots in each section: (sections, 3)."""
    places = library_value(places_of, (roots, sections), {})
    count = sum(map(len, places))
    roots = np.concatenate([roots, np.zeros(count - np.shape(roots)[0])])
    rows = [np.real(np.atleast_1d(np.poly(roots[at]))) for at in places]
    return np.stack([np.pad(row, (3 - np.shape(row)[0], 0)) for row in rows])


@composed(signal.zpk2sos, value="own")
def zpk2sos(z, p, k, pairing=None, *, analog=False, own):
    z, p, k = vector(z), vector(p), np.real(array(k))
    monic = library_value(signal.zpk2sos, (z, p, 1.0, pairing), {"analog": analog})
    tops, bottoms = (multiplied_out(x, part) for x, part in ((z, monic[:, :3]), (p, monic[:, 3:])))
    made = np.concatenate([value(tops), value(bottoms)], axis=1)
    if not np.allclose(made, monic, rtol=1e-5, atol=1e-7 * np.max(np.abs(monic))):
        raise MissingRuleError(
            "scipy.signal.zpk2sos: which root is in which section cannot be told, for the roots "
            f"are too close, in {user_line()}.\n  write the filter as polynomials: signal.zpk2tf"
        )
    scale = np.where(np.arange(len(own)) == 0, k, 1.0)
    return np.concatenate([tops * scale[:, None], bottoms], axis=1)


@composed(signal.tf2sos, value="own")
def tf2sos(b, a, pairing=None, *, analog=False):
    return zpk2sos(*tf2zpk(b, a), pairing, analog=analog)


@composed(signal.sos2zpk, value="own")
def sos2zpk(sos):
    parts = [tf2zpk(section[:3], section[3:]) for section in array(sos)]
    gain = 1.0
    for _, _, k in parts:
        gain = gain * k
    z, p = (
        np.concatenate([np.pad(part[i], (0, 2 - np.shape(part[i])[0])) for part in parts])
        for i in (0, 1)
    )
    return z, p, gain
