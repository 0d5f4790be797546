"""Cases of scipy.fftpack, at generic points."""

import functools

import scipy.fftpack
from generic_points import case, complex_normal, normal

import chainrules as cr
from chainrules.scipy import fftpack

real = functools.partial(normal, (37,))
complex_ = functools.partial(complex_normal, (37,))
X, EVEN, A, Z, C = real(5), real(6), real(3, 4), complex_(5), complex_(3, 4)
PACKED = [case(X), case(EVEN), case(A, 6, 0), case(A, 3), case(EVEN, 4)]
SEVERAL = [case(A), case(A, (2, 5)), case(A, axes=(1, 0)), case(C)]
TYPES = [case(X, kind) for kind in (1, 2, 3, 4)]

CASES: dict = {
    fftpack.fft: [*PACKED, case(Z)],
    fftpack.ifft: [*PACKED, case(Z)],
    fftpack.rfft: PACKED,
    fftpack.irfft: PACKED,
    **dict.fromkeys((fftpack.fft2, fftpack.ifft2), SEVERAL),
    **{f: [*SEVERAL, case(A, (5,), (0,))] for f in (fftpack.fftn, fftpack.ifftn)},
    **{
        f: [*TYPES, case(A, 3, 6, 0, "ortho"), case(A, 2, 3), case(Z, 2, norm="ortho")]
        for f in (fftpack.dct, fftpack.idct, fftpack.dst, fftpack.idst)
    },
    **{
        f: [case(A), case(A, 1, (4, 3)), case(A, 3, axes=(1,), norm="ortho"), case(A, 4)]
        for f in (fftpack.dctn, fftpack.idctn, fftpack.dstn, fftpack.idstn)
    },
    fftpack.diff: [case(X), case(EVEN, 2), case(X, -1, 3.0), case(Z)],
    **{f: [case(X), case(EVEN)] for f in (fftpack.hilbert, fftpack.ihilbert)},
    **{f: [case(X, 0.7), case(EVEN, 0.7, 3.0)] for f in (fftpack.tilbert, fftpack.itilbert)},
    **{
        f: [case(X, 0.7, 0.9), case(EVEN, 0.7, 0.9, 3.0)]
        for f in (fftpack.sc_diff, fftpack.cs_diff, fftpack.cc_diff, fftpack.ss_diff)
    },
    fftpack.shift: [case(X, 0.3), case(EVEN, 0.3, 3.0)],
    fftpack.rfftfreq: [case(5, 0.3), case(4, 0.7)],
}
# Of these the parameters are constant.
ONE_PARAMETER = fftpack.tilbert, fftpack.itilbert, fftpack.shift, fftpack.diff
TWO_PARAMETERS = fftpack.sc_diff, fftpack.cs_diff, fftpack.cc_diff, fftpack.ss_diff
FIXED = {
    **dict.fromkeys(ONE_PARAMETER, (1, 2)),
    **dict.fromkeys(TWO_PARAMETERS, (1, 2, 3)),
}
OF_ONE_DTYPE = set(FIXED) | {fftpack.hilbert, fftpack.ihilbert}
# Of sizes; and the adjoints of periodic operators, seen to with these.
WITHOUT_CASES = {scipy.fftpack.next_fast_len} | {
    f
    for f in cr.rrule.methods
    if (getattr(f, "__module__", None) or "").endswith("rulesets.scipy.fftpack")
}
