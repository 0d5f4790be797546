"""Signal, image, control, robotics and graphics programs as people have them."""

import functools
import itertools
from typing import NamedTuple

import numpy as np
from scipy import special


def rng(seed=0):
    return np.random.default_rng(seed)


def stft_power(x, nfft):
    win = np.hanning(nfft)
    hop = nfft // 2
    nframes = 1 + (len(x) - nfft) // hop
    frames = np.lib.stride_tricks.sliding_window_view(x, nfft)[::hop][:nframes]
    spec = np.fft.rfft(frames * win, axis=-1)
    power = np.abs(spec) ** 2
    return 10 * np.log10(power + 1e-10)


def iir_direct_form(b, a, x):
    y = np.zeros(len(x), dtype=float)
    b = b / a[0]
    a = a / a[0]
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0:
                y[n] += b[k] * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                y[n] -= a[k] * y[n - k]
    return y


def welch_psd(x, dtype):
    x = x.astype(dtype)
    x = x - x.mean()
    seg = x.reshape(-1, 16)
    win = np.hamming(16).astype(dtype)
    psd = np.mean(np.abs(np.fft.rfft(seg * win, axis=1)) ** 2, axis=0)
    psd[1:-1] *= 2
    return (psd / np.sum(win**2)).astype(np.float64)


def sobel_edges(img, gain):
    kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    ky = kx.T
    pad = np.pad(img, 1, mode="edge")
    gx = np.zeros_like(img)
    gy = np.zeros_like(img)
    h, w = img.shape
    for i in range(3):
        for j in range(3):
            patch = pad[i : i + h, j : j + w]
            gx += kx[i, j] * patch
            gy += ky[i, j] * patch
    mag = np.sqrt(gx**2 + gy**2 + 1e-6) * gain
    mag[mag < 1.0] = 0
    return mag


def bilateral_filter(img, sigma_r):
    out = np.zeros_like(img)
    norm = np.zeros_like(img)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            shifted = np.roll(np.roll(img, dy, axis=0), dx, axis=1)
            w = np.exp(-(dx**2 + dy**2) / 2 - (shifted - img) ** 2 / (2 * sigma_r**2))
            np.add(out, w * shifted, out=out)
            np.add(norm, w, out=norm)
    return np.divide(out, norm, out=np.zeros_like(out), where=norm > 0)


def bilinear_sample(img, ys, xs):
    y0 = np.floor(ys).astype(int)
    x0 = np.floor(xs).astype(int)
    y1 = np.minimum(y0 + 1, img.shape[0] - 1)
    x1 = np.minimum(x0 + 1, img.shape[1] - 1)
    wy, wx = ys - y0, xs - x0
    top = img[y0, x0] * (1 - wx) + img[y0, x1] * wx
    bot = img[y1, x0] * (1 - wx) + img[y1, x1] * wx
    return top * (1 - wy) + bot * wy


def rgb_to_hsv_like(rgb):
    r, g, b = np.moveaxis(rgb, -1, 0)
    maxc = rgb.max(axis=-1)
    minc = rgb.min(axis=-1)
    delta = maxc - minc
    s = np.zeros_like(maxc)
    nz = maxc != 0
    s[nz] = delta[nz] / maxc[nz]
    h = np.zeros_like(maxc)
    m = maxc == r
    h[m] = ((g - b)[m] / delta[m]) % 6
    m = (maxc == g) & ~m
    h[m] = (b - r)[m] / delta[m] + 2
    m = maxc == b
    h[m] = (r - g)[m] / delta[m] + 4
    return np.dstack([h / 6, s, maxc])


def total_variation_denoise(noisy, u, lam=0.3):
    dx = np.diff(u, axis=0, append=u[-1:])
    dy = np.diff(u, axis=1, append=u[:, -1:])
    tv = np.sum(np.sqrt(dx**2 + dy**2 + 1e-4))
    return 0.5 * np.linalg.norm(u - noisy) ** 2 + lam * tv


def phase_correlation(img):
    ref = np.roll(img, (1, 2), axis=(0, 1)) + 0.1 * np.sin(img)
    f = np.fft.fft2(img)
    g = np.fft.fft2(ref)
    cross = f * np.conj(g)
    cross /= np.abs(cross) + 1e-8
    corr = np.fft.fftshift(np.fft.ifft2(cross).real)
    return corr[3:6, 3:6]


def rodrigues_project(rvec, tvec):
    theta = np.linalg.norm(rvec)
    if theta < 1e-12:
        rot = np.eye(3)
    else:
        k = rvec / theta
        kx = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
        rot = np.eye(3) + np.sin(theta) * kx + (1 - np.cos(theta)) * kx @ kx
    pts = np.array([[0.0, 0, 4], [1, 0, 5], [0, 1, 6], [1, 1, 4.5]])
    cam = pts @ rot.T + tvec
    uv = cam[:, :2] / cam[:, 2:]
    r2 = np.sum(uv**2, axis=1, keepdims=True)
    uv *= 1 + 0.1 * r2 + 0.01 * r2**2
    return uv * 500 + np.array([320, 240])


class DH(NamedTuple):
    a: float
    alpha: float
    d: float


def denavit_hartenberg(q):
    links = [
        DH(0.3, np.pi / 2, 0.1),
        DH(0.4, 0.0, 0.0),
        DH(0.2, -np.pi / 2, 0.0),
        DH(0.1, 0.0, 0.2),
    ]

    def transform(theta, link):
        ct, st = np.cos(theta), np.sin(theta)
        ca, sa = np.cos(link.alpha), np.sin(link.alpha)
        return np.array(
            [
                [ct, -st * ca, st * sa, link.a * ct],
                [st, ct * ca, -ct * sa, link.a * st],
                [0, sa, ca, link.d],
                [0, 0, 0, 1],
            ]
        )

    t = functools.reduce(np.matmul, [transform(th, ln) for th, ln in zip(q, links, strict=True)])
    jac = np.linalg.norm(t[:3, :3] - np.eye(3))
    return np.append(t[:3, 3], jac)


class Quaternion:
    def __init__(self, w, x, y, z):
        self.q = np.array([w, x, y, z])

    def __mul__(self, other):
        w1, x1, y1, z1 = self.q
        w2, x2, y2, z2 = other.q
        return Quaternion(
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        )

    @property
    def conj(self):
        return Quaternion(self.q[0], *(-self.q[1:]))

    def normalized(self):
        return Quaternion(*(self.q / np.sqrt(np.sum(self.q**2))))

    def rotate(self, v):
        return (self * Quaternion(0.0, *v) * self.conj).q[1:]


def quaternion_rotation(q, v):
    rot = Quaternion(*q).normalized()
    return rot.rotate(v)


def lqr_cost(qdiag, a):
    b = np.array([[0.0], [1.0]])
    q = np.diag(qdiag)
    r = np.array([[0.1]])
    p = q
    for _ in range(200):
        k = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
        pn = q + a.T @ p @ (a - b @ k)
        if np.max(np.abs(pn - p)) < 1e-13:
            break
        p = pn
    x0 = np.array([1.0, -1.0])
    return x0 @ p @ x0


class PID:
    def __init__(self, gains, limit=2.0):
        self.kp, self.ki, self.kd = gains
        self.limit = limit
        self.reset()

    def reset(self):
        self.integral = 0.0
        self.previous = None

    def __call__(self, error, dt):
        self.integral += error * dt
        rate = 0.0 if self.previous is None else (error - self.previous) / dt
        self.previous = error
        u = self.kp * error + self.ki * self.integral + self.kd * rate
        if u > self.limit:
            return self.limit
        return max(u, -self.limit)


def pid_iae(gains):
    pid = PID(gains)
    x, v, dt = 0.0, 0.0, 0.05
    cost = 0.0
    for i in range(30):
        target = 1.0 if i > 2 else 0.0
        u = pid(target - x, dt)
        v += dt * (u - 0.5 * v - x)
        x += dt * v
        cost += abs(target - x) * dt
    return cost


def controllability_gramian(a, b):
    n = a.shape[0]
    blocks = [b]
    for _ in range(n - 1):
        blocks.append(a @ blocks[-1])
    ctrb = np.block([blocks])
    gram = np.linalg.matrix_power(a, 2) @ b @ b.T
    s = np.linalg.svd(ctrb, compute_uv=False)
    return np.concatenate([s, gram.ravel()])


def ekf_update(x, a):
    p = a @ a.T + np.eye(4)
    landmarks = np.array([[3.0, 1.0], [-2.0, 4.0]])
    for lm in landmarks:
        d = lm - x[:2]
        q = d @ d
        r = np.sqrt(q)
        h = np.zeros((2, 4))
        h[0, :2] = -d / r
        h[1, 0] = d[1] / q
        h[1, 1] = -d[0] / q
        h[1, 2] = -1
        z = np.array([r, np.arctan2(d[1], d[0]) - x[2]])
        innov = np.array([3.0, 0.5]) - z
        innov[1] = (innov[1] + np.pi) % (2 * np.pi) - np.pi
        s = h @ p @ h.T + np.diag([0.1, 0.05])
        k = p @ h.T @ np.linalg.inv(s)
        x = x + k @ innov
        p = (np.eye(4) - k @ h) @ p
        p = (p + p.T) / 2
    return x, p


def mesh_volume_area(verts):
    faces = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [1, 2, 4]])
    tri = verts[faces]
    e1 = tri[:, 1] - tri[:, 0]
    e2 = tri[:, 2] - tri[:, 0]
    normals = np.cross(e1, e2)
    areas = 0.5 * np.linalg.norm(normals, axis=1)
    vol = np.sum(tri[:, 0] * normals) / 6
    vn = np.zeros_like(verts)
    for k in range(3):
        np.add.at(vn, faces[:, k], normals)
    vn /= np.linalg.norm(vn, axis=1, keepdims=True)
    return areas.sum(), vol, vn


def polygon_moments(poly):
    x, y = poly.T
    xs, ys = np.roll(x, -1), np.roll(y, -1)
    cross = x * ys - xs * y
    area = cross.sum() / 2
    cx = np.sum((x + xs) * cross) / (6 * area)
    cy = np.sum((y + ys) * cross) / (6 * area)
    perim = sum(np.hypot(*(p - q)) for p, q in zip(poly, np.roll(poly, -1, axis=0), strict=True))
    return {"area": area, "centroid": (cx, cy), "perimeter": perim}


def bezier_curvature(ctrl, t):
    def de_casteljau(points, s):
        if len(points) == 1:
            return points[0]
        return de_casteljau([(1 - s) * p + s * q for p, q in itertools.pairwise(points)], s)

    curve = np.array([de_casteljau(list(ctrl), s) for s in t])
    d1 = np.gradient(curve, t, axis=0)
    d2 = np.gradient(d1, t, axis=0)
    num = np.abs(d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0])
    return num / (d1[:, 0] ** 2 + d1[:, 1] ** 2) ** 1.5


def phong_sphere(centre, colour):
    yy, xx = np.mgrid[-1:1:5j, -1:1:5j]
    dirs = np.stack([xx, yy, -np.ones_like(xx)], axis=-1)
    dirs = dirs / np.linalg.norm(dirs, axis=-1, keepdims=True)
    centre = centre * 3
    b = np.tensordot(dirs, centre, axes=([-1], [0]))
    disc = b**2 - centre @ centre + 1.2
    hit = disc > 0
    t = np.where(hit, b - np.sqrt(np.where(hit, disc, 1.0)), 0)
    pts = dirs * t[..., None]
    n = pts - centre
    n /= np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-9)
    light = np.array([1.0, 1.0, 1.0]) / np.sqrt(3)
    shade = np.clip(n @ light, 0, 1)
    img = np.zeros(xx.shape + (3,))
    img[hit] = shade[hit][:, None] * colour
    return img


def kabsch_rmsd(p, q):
    p = p - p.mean(axis=0)
    q = q - q.mean(axis=0)
    u, _, vt = np.linalg.svd(p.T @ q)
    d = np.sign(np.linalg.det(vt.T @ u.T))
    rot = vt.T @ np.diag([1, 1, d]) @ u.T
    diff = p @ rot.T - q
    return np.sqrt((diff**2).sum() / len(p))


def lms_adaptive(w, x, mu=0.05):
    d = np.convolve(x, [0.5, -0.3, 0.1])[: len(x)]
    errors = np.empty(len(x) - 2)
    for n in range(2, len(x)):
        u = x[n : n - 3 if n > 2 else None : -1]
        e = d[n] - w @ u
        w = w + 2 * mu * e * u
        errors[n - 2] = e
    return errors, w


def antenna_array_factor(phases):
    theta = np.linspace(0, np.pi, 9)
    n = np.arange(len(phases))
    steering = np.exp(1j * (np.pi * np.outer(np.cos(theta), n) + phases))
    af = np.abs(steering.sum(axis=1)) / len(phases)
    ripple = np.ptp(af)
    return 20 * np.log10(np.maximum(af, 1e-3)), ripple


def rlc_bode(log_rlc):
    r, ind, c = np.exp(log_rlc)
    w = 2 * np.pi * np.geomspace(100, 1e5, 6)
    zc = 1 / (1j * w * c)
    zl = 1j * w * ind
    h = zc / (r + zl + zc)
    gain = 20 * np.log10(np.absolute(h))
    phase = np.unwrap(np.angle(h))
    return np.c_[gain, phase]


def kaiser_fir(design, x):
    beta, fc = design
    n = np.arange(-6, 7)
    h = 2 * fc * np.sinc(2 * fc * n / 2)
    win = special.i0(beta * np.sqrt(1 - (n / 6.0) ** 2)) / special.i0(beta)
    h = h * win
    h /= h.sum()
    return np.convolve(x, h, mode="valid"), np.correlate(x, h, "same")


# (name, function, arguments); integers and strings are constants
PROGRAMS = [
    ("stft_power", stft_power, (rng(0).normal(size=32), 8)),
    ("welch_psd", welch_psd, (rng(2).normal(size=64), "float64")),
    ("sobel_edges", sobel_edges, (rng(3).normal(size=(7, 7)), np.array([1.0]))),
    ("bilateral_filter", bilateral_filter, (rng(4).random((6, 6)), 0.6)),
    (
        "bilinear_sample",
        bilinear_sample,
        (rng(5).random((5, 6)), np.array([1.3, 2.6, 0.4]), np.array([2.2, 0.7, 3.9])),
    ),
    ("rgb_to_hsv_like", rgb_to_hsv_like, (rng(6).random((4, 5, 3)),)),
    (
        "total_variation_denoise",
        total_variation_denoise,
        (rng(7).random((5, 5)), rng(8).random((5, 5))),
    ),
    ("phase_correlation", phase_correlation, (rng(9).random((8, 8)),)),
    (
        "rodrigues_project",
        rodrigues_project,
        (np.array([0.4, -0.3, 0.8]), np.array([0.1, 0.2, 0.3])),
    ),
    ("denavit_hartenberg", denavit_hartenberg, (np.array([0.3, -0.5, 0.9, 0.1]),)),
    (
        "quaternion_rotation",
        quaternion_rotation,
        (np.array([0.9, 0.1, -0.3, 0.2]), np.array([1.0, 2.0, 3.0])),
    ),
    ("lqr_cost", lqr_cost, (np.array([1.0, 0.5]), rng(10).normal(size=(2, 2)) * 0.3)),
    ("pid_iae", pid_iae, (np.array([1.2, 0.4, 0.05]),)),
    (
        "controllability_gramian",
        controllability_gramian,
        (rng(11).normal(size=(3, 3)) * 0.4, rng(12).normal(size=(3, 1))),
    ),
    ("mesh_volume_area", mesh_volume_area, (rng(15).random((5, 3)),)),
    ("polygon_moments", polygon_moments, (rng(16).random((6, 2)),)),
    (
        "bezier_curvature",
        bezier_curvature,
        (rng(17).normal(size=(4, 2)), np.linspace(0.05, 0.95, 7)),
    ),
    ("kabsch_rmsd", kabsch_rmsd, (rng(18).normal(size=(6, 3)), rng(19).normal(size=(6, 3)))),
    ("antenna_array_factor", antenna_array_factor, (np.array([0.7, 1.1, 0.2]),)),
    ("rlc_bode", rlc_bode, (np.array([2.3, -6.9, -13.8]),)),
    ("kaiser_fir", kaiser_fir, (np.array([3.0, 0.5]), rng(21).normal(size=20))),
]

# (name, function, arguments, error class, a pattern of its message)
REFUSED = [
    (
        "iir_direct_form",
        iir_direct_form,
        (np.array([0.2, 0.4, 0.2]), np.array([1.0, -0.5, 0.25]), rng(1).normal(size=12)),
        "LostDerivativeError",
        "like=x",
    ),
    (
        "ekf_update",
        ekf_update,
        (rng(13).normal(size=4), rng(14).normal(size=(4, 4))),
        "LostDerivativeError",
        "like=x",
    ),
    (
        "phong_sphere",
        phong_sphere,
        (np.array([0.1, 0.2, -1.0]), np.array([0.8, 0.4, 0.2])),
        "LostDerivativeError",
        "like=x",
    ),
    (
        "lms_adaptive",
        lms_adaptive,
        (np.array([0.3, -0.2, 0.5]), rng(20).normal(size=16)),
        "LostDerivativeError",
        "like=x",
    ),
]
