"""Rules for scipy.ndimage."""

from typing import Any

from scipy import ndimage

from .... import non_differentiable
from . import interpolation, kernels, measurements, ranks, smoothing

INSTEAD: dict[str, Any] = {}
CALLS_BACK = (
    "it calls a function of yours from compiled code",
    "the filter as a function of NumPy",
)
REFUSED: dict[str, tuple[str, str]] = dict.fromkeys(
    [
        "generic_filter",
        "generic_filter1d",
        "generic_gradient_magnitude",
        "generic_laplace",
        "labeled_comprehension",
        "vectorized_filter",
    ],
    CALLS_BACK,
)
REFUSED |= {
    "geometric_transform": (
        "it calls a function of yours from compiled code",
        "ndimage.map_coordinates of the coordinates that the function gives",
    ),
}

# Of labels, of which pixels are set, and of where something is.
non_differentiable(
    *(
        getattr(ndimage, name)
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
            "iterate_structure",
            "label",
            "maximum_position",
            "minimum_position",
            "value_indices",
            "watershed_ift",
        ]
    )
)

__all__ = ["INSTEAD", "REFUSED", "interpolation", "kernels", "measurements", "ranks", "smoothing"]
