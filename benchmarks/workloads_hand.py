"""Tracking a hand: 10^4 vertices follow 21 bones, and 28 numbers move the bones."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import derivative
from workload import Workload

# The pose: a shift (3), turns of the hand (3) and of the wrist (2), of four joints per finger (20).
VERTICES, FINGERS, JOINTS = 10_000, 5, 4
TURNS = 5 + FINGERS * JOINTS
BONES = 1 + FINGERS * JOINTS
POSE = 3 + TURNS


def residuals(
    namespace: ModuleType, seen: Any, blend: Any, eye: Any, shifts: Any, k: Any, kk: Any, rest: Any
) -> Callable:
    """Return the function of the pose; bones are 4 x 4 matrices, and ``blend`` weighs them."""
    cos, sin, stack = namespace.cos, namespace.sin, namespace.stack

    def f(pose: Any) -> Any:
        angles = pose[3:, None, None]
        turns = eye + sin(angles) * k + (1.0 - cos(angles)) * kk  # Rodrigues' formula
        palm = eye + namespace.sum(pose[:3, None, None] * shifts, axis=0)
        for i in range(5):
            palm = palm @ turns[i]
        bones = [palm]
        for finger in range(FINGERS):
            bone = palm
            for joint in range(finger * JOINTS, (finger + 1) * JOINTS):
                bone = bone @ rest[joint] @ turns[5 + joint]
                bones.append(bone)
        rows = stack(bones)[:, :3, :]  # (bones, 3, 4)
        moves = namespace.swapaxes(rows, 1, 2).reshape(4 * BONES, 3)
        return blend @ moves - seen

    return f


def jacobian_by_hand(
    pose: Any, seen: Any, blend: Any, eye: Any, shifts: Any, k: Any, kk: Any, rest: Any
) -> np.ndarray:
    """Carry all 28 tangents along the bones at once, and blend them with one product."""
    angles = pose[3:, None, None]
    turns = eye + np.sin(angles) * k + (1.0 - np.cos(angles)) * kk
    slopes = np.cos(angles) * k + np.sin(angles) * kk
    palm = eye + np.sum(pose[:3, None, None] * shifts, axis=0)
    palm_dot = np.zeros((POSE, 4, 4))
    palm_dot[:3] = shifts
    for i in range(5):
        palm_dot = palm_dot @ turns[i]
        palm_dot[3 + i] = palm @ slopes[i]
        palm = palm @ turns[i]
    tangents = [palm_dot]
    for finger in range(FINGERS):
        bone, bone_dot = palm, palm_dot
        for joint in range(finger * JOINTS, (finger + 1) * JOINTS):
            bone = bone @ rest[joint]
            bone_dot = bone_dot @ (rest[joint] @ turns[5 + joint])
            bone_dot[8 + joint] = bone @ slopes[5 + joint]
            bone = bone @ turns[5 + joint]
            tangents.append(bone_dot)
    moves = np.stack(tangents)[:, :, :3, :]  # (bones, pose, 3, 4)
    moves = np.transpose(moves, (0, 3, 2, 1)).reshape(4 * BONES, 3 * POSE)
    return (blend @ moves).reshape(len(blend), 3, POSE)


def hand(rng: np.random.Generator) -> tuple:
    """Make up a hand: the pose, and the constants of ``residuals``."""
    axes = rng.normal(size=(TURNS, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    k = np.zeros((TURNS, 4, 4))
    for i, j, axis, sign in ((0, 1, 2, -1), (0, 2, 1, 1), (1, 2, 0, -1)):
        k[:, i, j], k[:, j, i] = sign * axes[:, axis], -sign * axes[:, axis]
    rest = np.tile(np.eye(4), (FINGERS * JOINTS, 1, 1))
    rest[:, :3, 3] = rng.normal(size=(FINGERS * JOINTS, 3)) * 0.3
    shifts = np.zeros((3, 4, 4))
    shifts[[0, 1, 2], [0, 1, 2], 3] = 1.0
    weights = rng.dirichlet(np.full(BONES, 0.2), size=VERTICES)
    vertices = np.concatenate([rng.normal(size=(VERTICES, 3)), np.ones((VERTICES, 1))], axis=1)
    blend = (weights[:, :, None] * vertices[:, None, :]).reshape(VERTICES, 4 * BONES)
    seen = rng.normal(size=(VERTICES, 3))
    return rng.normal(size=POSE) * 0.5, (seen, blend, np.eye(4), shifts, k, k @ k, rest)


def workloads() -> Iterator[Workload]:
    pose, data = hand(np.random.default_rng(0))
    yield Workload(
        "Jacobian, hand, 28 directions, 10^4 points",
        62,
        derivative("jacfwd", residuals, *data),
        (pose,),
        lambda pose: jacobian_by_hand(pose, *data),
        large=True,
        reverse=False,
    )
