"""Bundle adjustment: how far the images of points are from where cameras saw them."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradient
from workload import Workload

# A camera: rotation (3), centre (3), focal length, principal point (2), radial distortion (2).
CAMERAS, POINTS, OBSERVATIONS = 10, 1000, 5000


def cross(namespace: ModuleType) -> Callable:
    return namespace.cross if namespace.__name__ != "torch" else namespace.linalg.cross


def bundle(namespace: ModuleType) -> Callable:
    cos, sin, sqrt, total = namespace.cos, namespace.sin, namespace.sqrt, namespace.sum
    times = cross(namespace)

    def rotated(rotation: Any, x: Any) -> Any:
        """Rotate by Rodrigues' formula, row by row."""
        angle = sqrt(total(rotation**2, axis=1))[:, None]
        axis = rotation / angle
        along = total(axis * x, axis=1)[:, None]
        return x * cos(angle) + times(axis, x) * sin(angle) + axis * (along * (1.0 - cos(angle)))

    def cost(cameras: Any, points: Any, weights: Any, camera: Any, point: Any, seen: Any) -> Any:
        of = cameras[camera]
        z = rotated(of[:, :3], points[point] - of[:, 3:6])
        image = z[:, :2] / z[:, 2:]
        squared = total(image**2, axis=1)[:, None]
        distorted = image * (1.0 + of[:, 9:10] * squared + of[:, 10:11] * squared**2)
        errors = weights[:, None] * (distorted * of[:, 6:7] + of[:, 7:9] - seen)
        return total(errors**2) + total((1.0 - weights**2) ** 2)

    return cost


def bundle_by_hand(
    cameras: Any, points: Any, weights: Any, camera: Any, point: Any, seen: Any
) -> tuple:
    # What only the camera decides is computed once per camera, and gathered.
    rotations = cameras[:, :3]
    angles = np.sqrt(np.sum(rotations**2, axis=1))[:, None]
    axes = rotations / angles
    angle, axis = angles[camera], axes[camera]
    c, s = np.cos(angles)[camera], np.sin(angles)[camera]
    x = points[point] - cameras[camera, 3:6]
    along = np.sum(axis * x, axis=1)[:, None]
    turned = np.cross(axis, x)
    z = x * c + turned * s + axis * (along * (1.0 - c))
    image = z[:, :2] / z[:, 2:]
    squared = np.sum(image**2, axis=1)[:, None]
    focal, first, second = (cameras[camera, i : i + 1] for i in (6, 9, 10))
    stretch = 1.0 + first * squared + second * squared**2
    distorted = image * stretch
    misses = distorted * focal + cameras[camera, 7:9] - seen
    w = weights[:, None]
    rest = 1.0 - weights**2
    y = np.sum((w * misses) ** 2) + np.sum(rest**2)

    weights_bar = 2.0 * weights * np.sum(misses**2, axis=1) - 4.0 * weights * rest
    misses_bar = 2.0 * w * w * misses
    stretch_bar = np.sum(image * misses_bar, axis=1)[:, None] * focal
    of_bar = np.empty((len(camera), 11))
    of_bar[:, 6:7] = np.sum(distorted * misses_bar, axis=1)[:, None]
    of_bar[:, 7:9] = misses_bar
    of_bar[:, 9:10] = stretch_bar * squared
    of_bar[:, 10:11] = stretch_bar * squared**2
    squared_bar = stretch_bar * (first + 2.0 * second * squared)
    image_bar = misses_bar * (focal * stretch) + 2.0 * image * squared_bar
    zbar = np.empty_like(z)
    zbar[:, :2] = image_bar / z[:, 2:]
    zbar[:, 2:] = -np.sum(image * image_bar, axis=1)[:, None] / z[:, 2:]
    weighted = np.sum(axis * zbar, axis=1)[:, None]
    xbar = zbar * c + np.cross(zbar, axis) * s + axis * (weighted * (1.0 - c))
    axis_bar = np.cross(x, zbar) * s + (zbar * along + x * weighted) * (1.0 - c)
    angle_bar = np.sum((turned * c - x * s) * zbar, axis=1)[:, None] + s * along * weighted
    across = axis_bar - axis * np.sum(axis * axis_bar, axis=1)[:, None]
    of_bar[:, :3] = across / angle + axis * angle_bar
    of_bar[:, 3:6] = -xbar
    return y, (summed(of_bar, camera, CAMERAS), summed(xbar, point, POINTS), weights_bar)


def summed(rows: np.ndarray, index: np.ndarray, count: int) -> np.ndarray:
    """Add up the rows that belong to each index."""
    return np.stack([np.bincount(index, column, count) for column in rows.T], axis=1)


def workloads() -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    cameras = rng.normal(size=(CAMERAS, 11)) * 0.1
    cameras[:, 5] -= 5.0  # in front of all the points
    cameras[:, 6] += 1.0
    points = rng.uniform(-1, 1, size=(POINTS, 3))
    camera = rng.integers(CAMERAS, size=OBSERVATIONS)
    point = np.arange(OBSERVATIONS) % POINTS
    weights, seen = rng.uniform(0.5, 1, OBSERVATIONS), rng.normal(size=(OBSERVATIONS, 2)) * 0.1
    given = (cameras, points, weights, camera, point, seen)
    name = "gradient, bundle adjustment, 5000 seen"
    yield Workload(name, 50, gradient(bundle, (0, 1, 2)), given, bundle_by_hand, large=True)
