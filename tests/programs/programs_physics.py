"""Simulation: particles, orbits, partial differential equations, signals, geometry."""

import numpy as np

rng = np.random.default_rng(3)


def normal(*shape):
    return rng.normal(size=shape)


def rk4_lotka_volterra(state, params):
    def rhs(s):
        x, y = s
        a, b, c, d = params
        dx = a * x - b * x * y
        dy = c * x * y - d * y
        return np.array([dx, dy])

    h = 0.1
    for _ in range(10):
        k1 = rhs(state)
        k2 = rhs(state + h / 2 * k1)
        k3 = rhs(state + h / 2 * k2)
        k4 = rhs(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


def lennard_jones(positions, eps, sigma):
    i, j = np.triu_indices(len(positions), k=1)
    r2 = np.sum((positions[i] - positions[j]) ** 2, axis=1)
    s6 = (sigma**2 / r2) ** 3
    return np.sum(4 * eps * (s6**2 - s6))


def pair_forces(positions):
    delta = positions[:, None, :] - positions[None, :, :]
    r2 = (delta**2).sum(axis=-1)
    np.fill_diagonal(r2, 1.0)
    return (delta / r2[..., None] ** 1.5).sum(axis=1)


def nbody_leapfrog(x, v, m):
    def acceleration(x):
        d = x[None] - x[:, None]
        r3 = (np.sum(d**2, axis=-1) + 0.1) ** 1.5
        return np.sum(m[None, :, None] * d / r3[..., None], axis=1)

    dt = 0.05
    a = acceleration(x)
    for _ in range(4):
        v = v + 0.5 * dt * a
        x = x + dt * v
        a = acceleration(x)
        v = v + 0.5 * dt * a
    return 0.5 * np.sum(m * np.sum(v**2, axis=1))


def nbody_inplace(x, v):
    x, v = x.copy(), v.copy()
    n = len(x)
    for _ in range(3):
        for i in range(n):
            for j in range(i + 1, n):
                d = x[i] - x[j]
                mag = 0.01 / (d @ d + 0.1) ** 1.5
                v[i] -= d * mag
                v[j] += d * mag
        x += 0.1 * v
    return x


def orbital_energy(r, v, mu=1.0):
    h = np.cross(r, v)
    e = np.cross(v, h) / mu - r / np.linalg.norm(r)
    energy = 0.5 * v.dot(v) - mu / np.sqrt(r.dot(r))
    return energy + np.linalg.norm(e)


def kepler(mean_anomaly, e):
    ecc = mean_anomaly + e * np.sin(mean_anomaly)
    while True:
        step = (ecc - e * np.sin(ecc) - mean_anomaly) / (1 - e * np.cos(ecc))
        ecc = ecc - step
        if abs(step) < 1e-13:
            break
    return 2 * np.arctan2(np.sqrt(1 + e) * np.sin(ecc / 2), np.sqrt(1 - e) * np.cos(ecc / 2))


def heat_stencil(u, alpha):
    u = u.copy()
    for _ in range(5):
        u[1:-1] += alpha * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def heat_2d(u):
    for _ in range(3):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return u.sum() ** 2


def burgers_upwind(u, dt):
    for _ in range(4):
        forward = np.roll(u, -1) - u
        backward = u - np.roll(u, 1)
        u = u - dt * np.where(u > 0, u * backward, u * forward)
    return u


def finite_volume_minmod(q):
    left, right = q - np.roll(q, 1), np.roll(q, -1) - q
    slope = np.where(left * right > 0, np.sign(left) * np.minimum(np.abs(left), np.abs(right)), 0.0)
    face = q + 0.5 * slope
    flux = 0.5 * face**2
    return q - 0.1 * (flux - np.roll(flux, 1))


def wave_three_buffers(u0, c):
    prev = u0.copy()
    cur = u0.copy()
    nxt = np.empty_like(u0)
    for _ in range(5):
        nxt[0] = nxt[-1] = 0.0
        nxt[1:-1] = 2 * cur[1:-1] - prev[1:-1] + c**2 * (cur[2:] - 2 * cur[1:-1] + cur[:-2])
        prev, cur, nxt = cur, nxt, prev
    return cur


def thomas(a, b, c, d):
    n = len(d)
    b, d = b.copy(), d.copy()
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x = np.empty_like(d)
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return x


def ising_energy(spins, j, h):
    bonds = spins * np.roll(spins, 1, axis=0) + spins * np.roll(spins, 1, axis=1)
    return -j * bonds.sum() - h * spins.sum()


def hodgkin_huxley(v, m, h, n, current):
    def vtrap(x, y):
        return np.where(np.abs(x / y) < 1e-6, y * (1 - x / y / 2), x / np.expm1(x / y))

    for _ in range(3):
        am, bm = 0.1 * vtrap(-(v + 40), 10), 4 * np.exp(-(v + 65) / 18)
        ah, bh = 0.07 * np.exp(-(v + 65) / 20), 1 / (np.exp(-(v + 35) / 10) + 1)
        an, bn = 0.01 * vtrap(-(v + 55), 10), 0.125 * np.exp(-(v + 65) / 80)
        i_ion = 120 * m**3 * h * (v - 50) + 36 * n**4 * (v + 77) + 0.3 * (v + 54.4)
        v = v + 0.01 * (current - i_ion)
        m += 0.01 * (am * (1 - m) - bm * m)
        h += 0.01 * (ah * (1 - h) - bh * h)
        n += 0.01 * (an * (1 - n) - bn * n)
    return v


def pendulum_energy(theta, omega, length):
    g = 9.81
    trajectory = []
    for _ in range(10):
        omega = omega - 0.01 * g / length * np.sin(theta)
        theta = theta + 0.01 * omega
        trajectory.append(0.5 * length**2 * omega**2 - g * length * np.cos(theta))
    return np.std(trajectory)


def pendulum_energy_remedy(theta, omega, length):
    g = 9.81
    trajectory = []
    for _ in range(10):
        omega = omega - 0.01 * g / length * np.sin(theta)
        theta = theta + 0.01 * omega
        trajectory.append(0.5 * length**2 * omega**2 - g * length * np.cos(theta))
    return np.std(np.stack(trajectory))


def strain_determinant(u):
    f = np.array([[1 + u[0], u[1]], [u[2], 1 + u[3]]])
    return np.log(np.linalg.det(f))


def strain_determinant_remedy(u):
    f = np.stack([np.stack([1 + u[0], u[1]]), np.stack([u[2], 1 + u[3]])])
    return np.log(np.linalg.det(f))


def unpacked_states(state, h):
    for _ in range(3):
        p, q = state
        state = state + h * np.array([q, -np.sin(p)])
    return state[0] * state[1]


def euler_states_buffer(y0, k):
    ys = np.zeros((6, *y0.shape), like=y0)
    ys[0] = y0
    for i in range(5):
        ys[i + 1] = ys[i] + 0.1 * (-k * ys[i])
    return ys


def impedance(r, l_, c, w):
    z = r + 1j * w * l_ + 1 / (1j * w * c)
    return np.abs(z), np.angle(z)


def mandelbrot_like(re, im):
    c = re + 1j * im
    z = 0
    for _ in range(4):
        z = z**2 + c
    return np.abs(z) ** 2


def complex_phase(z):
    w = z * np.exp(1j * np.pi / 3) / (1 + np.conj(z) * z)
    return np.real(w).sum() + (w.imag**2).sum()


def quantum_expectation(psi, h):
    psi = psi / np.linalg.norm(psi)
    return np.vdot(psi, h @ psi).real


def power_spectrum(x):
    spectrum = np.fft.rfft(x * np.hanning(len(x)))
    return np.abs(spectrum) ** 2


def spectral_derivative(u):
    k = np.fft.fftfreq(len(u), d=1 / len(u))
    return np.fft.ifft(1j * k * np.fft.fft(u)).real


def fir_filter(x, taps):
    return np.convolve(x, taps, mode="same")


def iir_filter(x, a, b):
    y = np.zeros_like(x)
    for n in range(len(x)):
        y[n] = b * x[n] + (a * y[n - 1] if n > 0 else 0)
    return y


def haversine(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = map(np.radians, [lat1, lon1, lat2, lon2])
    dlat, dlon = lat2 - lat1, lon2 - lon1
    a = np.sin(dlat / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin(dlon / 2) ** 2
    return 6371 * 2 * np.arcsin(np.sqrt(a))


def quaternion_rotate(q, v):
    w, x, y, z = q / np.linalg.norm(q)
    rot = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return rot @ v


def rotation_2d(theta, points):
    c, s = np.cos(theta), np.sin(theta)
    return points @ np.array([[c, -s], [s, c]]).T


def rodrigues(axis, angle, v):
    k = axis / np.sqrt(np.sum(axis**2))
    skew = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    rot = np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
    return rot @ v


def forward_kinematics(angles, lengths):
    x = y = total = 0.0
    for angle, length in zip(angles, lengths):
        total += angle
        x += length * np.cos(total)
        y += length * np.sin(total)
    return np.hypot(x, y)


def bilinear_warp(image, shift):
    rows, cols = np.mgrid[0:3, 0:3]
    r, c = rows + shift[0], cols + shift[1]
    r0, c0 = np.floor(r).astype(int), np.floor(c).astype(int)
    fr, fc = r - r0, c - c0
    return (
        image[r0, c0] * (1 - fr) * (1 - fc)
        + image[r0 + 1, c0] * fr * (1 - fc)
        + image[r0, c0 + 1] * (1 - fr) * fc
        + image[r0 + 1, c0 + 1] * fr * fc
    )


def soft_histogram(x, edges):
    hist = np.zeros_like(edges)
    position = np.floor(x).astype(np.intp)
    frac = x - position
    np.add.at(hist, position, 1 - frac)
    np.add.at(hist, position + 1, frac)
    return hist + 0 * edges


def triangle_areas(vertices):
    faces = np.array([[0, 1, 2], [0, 2, 3], [1, 2, 3]])
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()


def shoelace(p):
    x, y = p.T
    return 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


def total_variation(img):
    dx, dy = np.diff(img, axis=0), np.diff(img, axis=1)
    return np.sqrt(dx[:, :-1] ** 2 + dy[:-1] ** 2 + 1e-8).sum()


def planck_law(wavelength, temperature):
    x = 1.4388 / (wavelength * temperature)
    return np.divide(1.0, wavelength**5 * (np.exp(x) - 1))


def lorentz_boost(v, event):
    beta2 = v @ v
    gamma = 1 / np.sqrt(1 - beta2)
    boost = np.block(
        [
            [np.atleast_2d(gamma), -gamma * v[None, :]],
            [-gamma * v[:, None], np.eye(3) + (gamma - 1) * np.outer(v, v) / beta2],
        ]
    )
    return boost @ event


def gradient_energy(phi, dx):
    gx, gy = np.gradient(phi, 0.5)
    return np.trapezoid(np.trapezoid(gx**2 + gy**2, dx=0.5, axis=0), dx=0.5) * dx


SCALAR = rng.uniform(0.2, 0.8, size=8)

PROGRAMS = [
    (
        "rk4_lotka_volterra",
        rk4_lotka_volterra,
        (np.array([1.0, 0.7]), (1.1, 0.4, 0.1, 0.4)),
    ),
    ("lennard_jones", lennard_jones, (2 * normal(4, 3), 0.8, 1.1)),
    ("pair_forces", pair_forces, (2 * normal(4, 3),)),
    ("nbody_leapfrog", nbody_leapfrog, (normal(3, 2), normal(3, 2), SCALAR[:3])),
    ("nbody_inplace", nbody_inplace, (normal(3, 2), normal(3, 2))),
    ("orbital_energy", orbital_energy, (normal(3), normal(3))),
    ("kepler", kepler, (0.8, 0.4)),
    ("heat_stencil", heat_stencil, (normal(7), 0.2)),
    ("heat_2d", heat_2d, (normal(5, 4),)),
    ("burgers_upwind", burgers_upwind, (normal(6), 0.1)),
    ("finite_volume_minmod", finite_volume_minmod, (normal(8),)),
    ("wave_three_buffers", wave_three_buffers, (normal(6), 0.5)),
    ("thomas", thomas, (normal(4), 4 + normal(5), normal(4), normal(5))),
    ("ising_energy", ising_energy, (normal(3, 3), 0.7, 0.2)),
    ("hodgkin_huxley", hodgkin_huxley, (-60.0, 0.1, 0.6, 0.3, 10.0)),
    ("pendulum_energy_remedy", pendulum_energy_remedy, (0.6, 0.1, 1.2)),
    ("strain_determinant_remedy", strain_determinant_remedy, (0.1 * normal(4),)),
    ("unpacked_states", unpacked_states, (normal(2), 0.1)),
    ("euler_states_buffer", euler_states_buffer, (normal(2), 0.7)),
    ("impedance", impedance, (10.0, 0.5, 0.02, 5.0)),
    ("mandelbrot_like", mandelbrot_like, (0.3, 0.4)),
    ("complex_phase", complex_phase, (normal(3) + 1j * normal(3),)),
    (
        "quantum_expectation",
        quantum_expectation,
        (normal(3) + 1j * normal(3), normal(3, 3) + 1j * normal(3, 3)),
    ),
    ("power_spectrum", power_spectrum, (normal(8),)),
    ("spectral_derivative", spectral_derivative, (normal(8),)),
    ("fir_filter", fir_filter, (normal(8), normal(3))),
    ("iir_filter", iir_filter, (normal(6), 0.5, 0.8)),
    ("haversine", haversine, (48.1, 11.6, 52.5, 13.4)),
    ("quaternion_rotate", quaternion_rotate, (normal(4), normal(3))),
    ("rotation_2d", rotation_2d, (0.7, normal(4, 2))),
    ("rodrigues", rodrigues, (normal(3), 0.9, normal(3))),
    ("forward_kinematics", forward_kinematics, (normal(3), SCALAR[:3])),
    ("bilinear_warp", bilinear_warp, (normal(5, 5), np.array([0.3, 0.6]))),
    ("soft_histogram", soft_histogram, (5 * SCALAR, np.zeros(6))),
    ("triangle_areas", triangle_areas, (normal(4, 3),)),
    ("shoelace", shoelace, (normal(5, 2),)),
    ("total_variation", total_variation, (normal(4, 4),)),
    ("planck_law", planck_law, (SCALAR[:3], 3.0)),
    ("lorentz_boost", lorentz_boost, (0.3 * SCALAR[:3], normal(4))),
    ("gradient_energy", gradient_energy, (normal(4, 4), 0.3)),
]

# (name, function, arguments, error class, a pattern of its message)
REFUSED = [
    (
        "pendulum_energy",
        pendulum_energy,
        (0.6, 0.1, 1.2),
        "LostDerivativeError",
        r"np\.stack",
    ),
    (
        "strain_determinant",
        strain_determinant,
        (0.1 * normal(4),),
        "LostDerivativeError",
        r"(?s)numpy\.linalg\.det met .* build the array with cr\.array",
    ),
]
