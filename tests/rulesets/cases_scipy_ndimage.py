"""Cases of scipy.ndimage, at generic points."""

import functools

import numpy as np
import scipy.ndimage
from generic_points import case, normal

import chainrules as cr
from chainrules.scipy import ndimage

real = functools.partial(normal, (37,))
X, A, B = real(7), real(5, 4), real(4, 3, 3)
Z = A + 1j * real(5, 4, seed=1)
W, K = real(3, seed=2), real(3, 2, seed=3)
FOOT = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]], bool)
LABELS = np.array([[1, 1, 0, 2]] * 4 + [[0, 3, 3, 2]])
P = 2.0 + 2.5 * real(2, 6, seed=4)

CASES: dict = {
    **{
        f: [
            case(X, W),
            case(A, W, 0, mode="mirror", origin=1),
            case(A, real(4), mode="wrap"),
            case(A, W, cval=1.5, mode="constant", output=float),
            case(Z, W * (1 + 0.5j)),
        ]
        for f in (ndimage.correlate1d, ndimage.convolve1d)
    },
    **{
        f: [
            case(A, K),
            case(A, K, mode="nearest", origin=(1, -1)),
            case(X, W, mode="mirror"),
            case(A, K, cval=1.5, mode="constant"),
            case(Z, K * (1 + 0.5j), mode="wrap"),
        ]
        for f in (ndimage.correlate, ndimage.convolve)
    },
    ndimage.gaussian_filter1d: [
        case(X, 0.8),
        case(A, 1.1, 0, 1, mode="wrap"),
        case(Z, 0.7, order=2),
        case(A, 0.9, 0, 3, mode="constant", cval=0.5, radius=4),
    ],
    ndimage.gaussian_filter: [
        case(A, 0.8),
        case(A, (0.7, 1.2), (1, 0), mode=("wrap", "mirror")),
        case(B, (0.7, 0.0, 0.9)),
        case(Z, 0.9),
    ],
    ndimage.sobel: [case(A), case(B, 0, mode="mirror"), case(A, 0, cval=0.3, mode="constant")],
    ndimage.prewitt: [case(A), case(B, 1, mode=("wrap", "nearest", "mirror"))],
    ndimage.laplace: [case(A), case(B, mode="constant", cval=0.4)],
    ndimage.gaussian_laplace: [case(A, 0.9), case(A, (0.8, 1.1), mode="wrap", truncate=3.0)],
    ndimage.gaussian_gradient_magnitude: [
        case(A, 0.9),
        case(A, (0.8, 1.1), mode="wrap"),
        case(A, 0.9, axes=1),
    ],
    ndimage.uniform_filter1d: [
        case(X, 3),
        case(A, 4, 0, mode="mirror", origin=-1),
        case(Z, 3),
        case(A, 2, cval=0.4, mode="constant"),
    ],
    ndimage.uniform_filter: [case(A), case(B, (2, 3, 1), mode="wrap"), case(Z, 2)],
    ndimage.fourier_gaussian: [case(Z, 0.7), case(A, (0.7, 0.2), 6)],
    ndimage.fourier_uniform: [case(Z, 2), case(A, (2, 3), 6)],
    ndimage.fourier_ellipsoid: [case(Z, 2), case(A, (2, 3), 6)],
    ndimage.fourier_shift: [case(Z, 0.7), case(A, (0.7, 0.2), 6)],
    **{
        f: [
            case(X, size=3),
            case(A, (2, 3), mode="mirror", origin=(0, 1)),
            case(A, footprint=FOOT, mode="nearest"),
            case(B, 2, mode=("wrap", "mirror", "reflect")),
        ]
        for f in (ndimage.minimum_filter, ndimage.maximum_filter)
    },
    **{
        f: [
            case(X, 3),
            case(A, 4, 0, mode="mirror", origin=-1),
            case(A, 2, cval=0.1, mode="constant"),
        ]
        for f in (ndimage.minimum_filter1d, ndimage.maximum_filter1d)
    },
    ndimage.median_filter: [
        case(X, 3),
        case(A, (2, 3), mode="wrap"),
        case(A, footprint=FOOT),
        case(A, 3, cval=0.1, mode="constant"),
    ],
    ndimage.rank_filter: [case(X, 1, 3), case(A, -2, (2, 3)), case(A, 3, footprint=FOOT)],
    ndimage.percentile_filter: [case(X, 30, 3), case(A, -20, (2, 3)), case(A, 100, 2)],
    **{
        f: [
            case(A, 3),
            case(A, footprint=FOOT, mode="mirror"),
            case(A, (2, 3), origin=(-1, 0)),
            case(A, structure=real(2, 3), mode="wrap"),
            case(A, footprint=FOOT, structure=real(3, 3), cval=0.1, mode="constant"),
        ]
        for f in (
            ndimage.grey_erosion,
            ndimage.grey_dilation,
            ndimage.grey_opening,
            ndimage.grey_closing,
            ndimage.morphological_gradient,
            ndimage.morphological_laplace,
            ndimage.white_tophat,
            ndimage.black_tophat,
        )
    },
    ndimage.spline_filter1d: [case(X), case(A, 2, 0, mode="reflect"), case(Z, 5, mode="grid-wrap")],
    ndimage.spline_filter: [case(A), case(B, 4, mode="reflect")],
    ndimage.map_coordinates: [
        case(A, P),
        case(A, P, order=1, mode="mirror"),
        case(A, P, order=2, mode="nearest"),
        case(X, 7 * real(1, 5), mode="grid-wrap"),
        case(Z, P, mode="wrap", prefilter=False),
        case(A, P, order=5, mode="grid-constant", cval=0.5),
    ],
    ndimage.shift: [
        case(A, 0.3),
        case(A, (0.3, -1.2), order=2, mode="wrap"),
        case(X, 1.3, cval=0.2),
    ],
    ndimage.zoom: [
        case(A, 1.7),
        case(A, (0.6, 2.3), mode="nearest", order=4),
        case(X, 1.6, grid_mode=True, mode="grid-constant"),
        case(Z, 1.7),
    ],
    ndimage.affine_transform: [
        case(A, np.array([[0.8, 0.3], [-0.2, 0.9]]), np.array([0.43, 0.17]), mode="mirror"),
        case(A, np.array([0.8, 0.7]), 0.3, (3, 6), order=2, mode="reflect"),
        case(A, np.array([[0.8, 0.3, 0.43], [-0.2, 0.9, 0.17]]), mode="wrap"),
    ],
    ndimage.rotate: [
        case(A, 27.0, mode="mirror"),
        case(A, 31.0, reshape=False, order=1, mode="nearest"),
        case(B, 40.0, (0, 2), mode="wrap"),
    ],
    **{
        f: [case(A), case(A, LABELS), case(A, LABELS, 2), case(A, LABELS, [2, 1, 7, 2])]
        for f in (ndimage.sum, ndimage.sum_labels, ndimage.minimum, ndimage.maximum)
    },
    **{
        f: [case(A), case(A, LABELS), case(A, LABELS, 2), case(A, LABELS, [2, 1, 2])]
        for f in (
            ndimage.mean,
            ndimage.standard_deviation,
            ndimage.extrema,
            ndimage.variance,
            ndimage.median,
            ndimage.center_of_mass,
        )
    },
}
# Primitives, seen to with the functions that are made of them; and what tells of pixels alone.
WITHOUT_CASES = {
    f
    for f in cr.rrule.methods
    if "rulesets.scipy.ndimage" in (getattr(f, "__module__", None) or "")
} | {
    getattr(scipy.ndimage, name)
    for name in [
        "binary_closing",
        "binary_dilation",
        "binary_erosion",
        "binary_fill_holes",
        "binary_hit_or_miss",
        "binary_opening",
        "binary_propagation",
        "find_objects",
        "generate_binary_structure",
        "histogram",
        "distance_transform_bf",
        "distance_transform_cdt",
        "distance_transform_edt",
        "iterate_structure",
        "label",
        "maximum_position",
        "minimum_position",
        "value_indices",
        "watershed_ift",
    ]
}
FIXED = dict.fromkeys(
    (
        ndimage.fourier_gaussian,
        ndimage.fourier_uniform,
        ndimage.fourier_ellipsoid,
        ndimage.fourier_shift,
        ndimage.zoom,
    ),
    (1,),
)
OF_ONE_DTYPE = {ndimage.median}
