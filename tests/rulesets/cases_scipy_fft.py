"""Cases of scipy.fft, at generic points."""

import functools

import scipy.fft
from generic_points import case, complex_normal, normal

from chainrules.scipy import fft

real = functools.partial(normal, (31,))
complex_ = functools.partial(complex_normal, (31,))
X, A, Z, C = real(5), real(3, 4), complex_(5), complex_(3, 4)
ONE = [case(X), case(A, 6, 0, norm="ortho"), case(A, 3, norm="forward")]
SEVERAL = [case(A), case(A, (2, 5), norm="ortho"), case(A, axes=(1, 0), norm="forward", workers=2)]
SINGLE = [case(A), case(A, (5,), (0,))]

CASES: dict = {
    fft.fft: [*ONE, case(Z)],
    fft.ifft: [*ONE, case(Z)],
    fft.rfft: ONE,
    fft.irfft: [*ONE, case(Z), case(C, 7, 0)],
    fft.hfft: [*ONE, case(Z), case(C, 7, 0)],
    fft.ihfft: ONE,
    **{f: [*SEVERAL, case(C)] for f in (fft.fft2, fft.ifft2)},
    **{f: [*SEVERAL, *SINGLE, case(C)] for f in (fft.fftn, fft.ifftn)},
    **{f: [*SEVERAL] for f in (fft.rfft2, fft.ihfft2)},
    **{f: [*SEVERAL, *SINGLE] for f in (fft.rfftn, fft.ihfftn)},
    **{f: [*SEVERAL, case(C)] for f in (fft.irfft2, fft.hfft2)},
    **{f: [*SEVERAL, *SINGLE, case(C)] for f in (fft.irfftn, fft.hfftn)},
    **{
        f: [
            case(X),
            case(X, 1, orthogonalize=True),
            case(X, 3),
            case(X, 4, norm="ortho"),
            case(A, 1, 6, 0, "forward"),
            case(A, 3, 3, norm="ortho"),
            case(A, 2, orthogonalize=True),
            case(A, 2, norm="ortho", orthogonalize=False),
            case(Z, 1, norm="ortho"),
        ]
        for f in (fft.dct, fft.idct, fft.dst, fft.idst)
    },
    **{
        f: [
            case(A),
            case(A, 1, (4, 3)),
            case(A, 3, axes=(1,), norm="ortho"),
            case(A, 2, norm="forward", workers=2),
            case(A, 3, (5, 2), orthogonalize=True),
        ]
        for f in (fft.dctn, fft.idctn, fft.dstn, fft.idstn)
    },
    fft.fht: [case(X, 0.3, 0.7), case(real(6), 0.3, 0.7, 0.1, 0.2), case(A, 0.3, 0.7, -0.2, -0.1)],
    fft.ifht: [case(X, 0.3, 0.7), case(real(6), 0.3, 0.7, 0.1, 0.2), case(A, 0.3, 0.7, -0.2, -0.1)],
    fft.fhtoffset: [case(0.3, 0.7), case(0.3, 0.7, -0.05, 0.2)],
    fft.fftfreq: [case(5, 0.3), case(4, 0.7)],
    fft.rfftfreq: [case(5, 0.3), case(4, 0.7)],
    fft.fftshift: [case(X), case(A, 1), case(C, (0, 1))],
    fft.ifftshift: [case(X), case(A, 1), case(C, (0, 1))],
}
FIXED = {fft.fht: (1, 2, 3, 4), fft.ifht: (1, 2, 3, 4)}
OF_ONE_DTYPE = {fft.fhtoffset, fft.fht, fft.ifht}
# Of sizes and settings.
WITHOUT_CASES = {
    getattr(scipy.fft, name)
    for name in [
        "next_fast_len",
        "prev_fast_len",
        "get_workers",
        "set_workers",
        "set_backend",
        "skip_backend",
        "set_global_backend",
        "register_backend",
    ]
    if hasattr(scipy.fft, name)
}
