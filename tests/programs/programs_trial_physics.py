"""Physics, chemistry, astronomy and geophysics programs as people have them."""

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import Polynomial, chebyshev, legendre
from scipy import special


def rng(seed=0):
    return np.random.default_rng(seed)


def lennard_jones_pairs(pos, eps=1.0, sigma=1.0):
    n = pos.shape[0]
    iu, ju = np.triu_indices(n, k=1)
    rij = pos[iu] - pos[ju]
    r2 = np.sum(rij * rij, axis=1)
    inv6 = (sigma**2 / (r2 + 0.5)) ** 3
    energy = 4 * eps * np.sum(inv6 * (inv6 - 1))
    return energy


def velocity_verlet(x, v, dt=0.01, steps=5):
    def forces(x):
        f = np.zeros_like(x)
        for i in range(len(x)):
            for j in range(i + 1, len(x)):
                d = x[i] - x[j]
                r = np.linalg.norm(d)
                g = (1 - r) * d / r
                f[i] += g
                f[j] -= g
        return f

    x = x.copy()
    v = v.copy()
    a = forces(x)
    for _ in range(steps):
        x += v * dt + 0.5 * a * dt**2
        new = forces(x)
        v += 0.5 * (a + new) * dt
        a = new
    return x, 0.5 * np.sum(v**2)


def kepler_position(mean_anomaly, ecc):
    e = mean_anomaly if ecc < 0.8 else np.pi
    for _ in range(50):
        delta = (e - ecc * np.sin(e) - mean_anomaly) / (1 - ecc * np.cos(e))
        e -= delta
        if abs(delta) < 1e-14:
            break
    else:
        raise RuntimeError("Kepler's equation did not converge")
    nu = 2 * np.arctan2(np.sqrt(1 + ecc) * np.sin(e / 2), np.sqrt(1 - ecc) * np.cos(e / 2))
    r = 1 - ecc * np.cos(e)
    return r * np.cos(nu), r * np.sin(nu)


def orbital_elements(r, v, mu=398600.4418):
    h = np.cross(r, v)
    rn = np.linalg.norm(r)
    evec = np.cross(v, h) / mu - r / rn
    ecc = np.linalg.norm(evec)
    energy = np.dot(v, v) / 2 - mu / rn
    a = -mu / (2 * energy)
    inc = np.degrees(np.arccos(h[2] / np.linalg.norm(h)))
    node = np.cross([0, 0, 1], h)
    raan = np.rad2deg(np.arctan2(node[1], node[0])) % 360
    argp = np.arccos(np.dot(node, evec) / (np.linalg.norm(node) * ecc))
    if evec[2] < 0:
        argp = 2 * np.pi - argp
    return [a, ecc, inc, raan, argp]


def kdv_spectral(u, dt=1e-3, steps=3):
    n = u.size
    k = np.fft.fftfreq(n, 1.0 / n)
    ik3 = 1j * k**3
    uhat = np.fft.fft(u)
    for _ in range(steps):
        uhat = uhat * np.exp(dt * ik3)
        nonlin = np.fft.fft(0.5 * np.real(np.fft.ifft(uhat)) ** 2)
        nonlin[n // 3 : -(n // 3)] = 0
        uhat -= dt * 1j * k * nonlin
    return np.fft.ifft(uhat).real


def heat_equation(u, alpha=0.1, steps=4):
    u = u.copy()
    for _ in range(steps):
        un = u.copy()
        u[1:-1, 1:-1] = un[1:-1, 1:-1] + alpha * (
            un[2:, 1:-1] + un[:-2, 1:-1] + un[1:-1, 2:] + un[1:-1, :-2] - 4 * un[1:-1, 1:-1]
        )
        u[0, :] = u[1, :]
        u[-1, :] = u[-2, :]
        u[:, 0] = 0
        u[:, -1] = 1
    return u


def ising_mean_field(field, beta):
    m = np.tanh(beta * field)
    for _ in range(200):
        nb = np.roll(m, 1, 0) + np.roll(m, -1, 0) + np.roll(m, 1, 1) + np.roll(m, -1, 1)
        new = 0.5 * m + 0.5 * np.tanh(beta * (0.3 * nb + field))
        if np.allclose(new, m, rtol=0, atol=1e-13):
            break
        m = new
    return m.mean(), np.std(m)


def schrodinger_levels(v):
    n = v.size
    h = 0.2
    ham = np.diag(v + 1 / h**2) + np.diag(-0.5 / h**2 * np.ones(n - 1), 1)
    ham += np.diag(np.full(n - 1, -0.5 / h**2), k=-1)
    e, psi = np.linalg.eigh(ham)
    prob = np.abs(psi[:, 0]) ** 2
    x = np.arange(n) * h
    return e[:3], np.sum(prob * x)


def quantum_fidelity(theta):
    sx = np.array([[0, 1], [1, 0]], dtype=complex)
    sz = np.array([[1, 0], [0, -1]], dtype=complex)
    eye = np.eye(2)
    psi = np.zeros(4, dtype=np.complex128)
    psi[0] = 1
    for t in theta:
        ux = np.cos(t) * eye - 1j * np.sin(t) * sx
        uz = np.cos(t / 2) * eye - 1j * np.sin(t / 2) * sz
        psi = np.kron(ux, uz) @ psi
        psi = np.exp(1j * t * np.array([1, -1, -1, 1])) * psi
    target = np.array([1, 1j, -1j, 1]) / 2
    return np.abs(np.vdot(target, psi)) ** 2


def double_pendulum_rk4(state, dt=0.02, steps=4):
    g = 9.81

    def deriv(s):
        t1, t2, w1, w2 = s
        d = t1 - t2
        den = 3 - np.cos(2 * d)
        ds = np.zeros_like(s)
        ds[0] = w1
        ds[1] = w2
        ds[2] = (
            -3 * g * np.sin(t1)
            - g * np.sin(t1 - 2 * t2)
            - 2 * np.sin(d) * (w2**2 + w1**2 * np.cos(d))
        ) / den
        ds[3] = 2 * np.sin(d) * (2 * w1**2 + 2 * g * np.cos(t1) + w2**2 * np.cos(d)) / den
        return ds

    traj = np.empty((steps + 1, 4))
    traj[0] = state
    for i in range(steps):
        s = traj[i]
        k1 = deriv(s)
        k2 = deriv(s + dt / 2 * k1)
        k3 = deriv(s + dt / 2 * k2)
        k4 = deriv(s + dt * k3)
        traj[i + 1] = s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return traj


def arrhenius_robertson(log_k, temp):
    r = 8.314e-3
    k = np.exp(log_k[0]) * np.exp(-log_k[1] / (r * temp)) * 1e6
    y = np.array([1.0, 0.0, 0.0])
    dt = 0.1
    for _ in range(5):
        ynew = y
        for _newton in range(6):
            a, b, c = ynew
            f = np.array([-k * a + 2 * b * c, k * a - 2 * b * c - 3 * b**2, 3 * b**2])
            jac = np.array([[-k, 2 * c, 2 * b], [k, -2 * c - 6 * b, -2 * b], [0, 6 * b, 0]])
            step = np.linalg.solve(np.eye(3) - dt * jac, ynew - y - dt * f)
            ynew = ynew - step
        y = ynew
    return y


def van_der_waals_volume(ab, p, t):
    a, b = ab
    r = 0.08206
    coeffs = np.array([p, -(p * b + r * t), a, -a * b])
    roots = np.roots(coeffs)
    real = roots[np.abs(roots.imag) < 1e-9].real
    return np.max(real)


def buffer_ph(params):
    pka, acid, base = params
    ka = 10**-pka
    kw = 1e-14

    def charge(ph):
        h = 10.0 ** (-ph)
        return h + base - kw / h - ka * (acid + base) / (ka + h)

    lo, hi = 0.0, 14.0
    while hi - lo > 1e-3:
        mid = (lo + hi) / 2
        if charge(mid) > 0:
            lo = mid
        else:
            hi = mid
    ph = (lo + hi) / 2
    for _ in range(8):
        h = 10.0 ** (-ph)
        slope = -np.log(10) * (h + kw / h + ka * (acid + base) * h / (ka + h) ** 2)
        ph = ph - charge(ph) / slope
    return ph


@dataclass
class Layer:
    thickness: float
    resistivity: float


@dataclass
class Earth:
    layers: list = field(default_factory=list)
    basement: float = 100.0


def magnetotelluric(model):
    mu0 = 4e-7 * np.pi
    freqs = np.logspace(-2, 2, 5)
    rho = []
    phase = []
    for f in freqs:
        w = 2 * np.pi * f
        z = np.sqrt(1j * w * mu0 * model.basement)
        for layer in reversed(model.layers):
            k = np.sqrt(1j * w * mu0 / layer.resistivity)
            zi = k * layer.resistivity
            e = np.exp(-2 * k * layer.thickness)
            refl = (zi - z) / (zi + z)
            z = zi * (1 - refl * e) / (1 + refl * e)
        rho.append(abs(z) ** 2 / (mu0 * w))
        phase.append(np.angle(z, deg=True))
    return np.log10(rho), np.array(phase)


def travel_time_tomography(slowness, offsets):
    edges = np.linspace(0, 5, 7)
    idx = np.clip(np.searchsorted(edges, offsets) - 1, 0, 5)
    frac = offsets - edges[idx]
    cum = np.concatenate(([0.0], np.cumsum(slowness * np.diff(edges))))
    return cum[idx] + frac * slowness[idx]


def gravity_anomaly(density, station):
    x, z = np.meshgrid(np.linspace(0, 7, 8), np.linspace(1, 8, 8), indexing="xy")
    dx = x - station[0]
    dz = z + station[1]
    r2 = np.hypot(dx, dz) ** 2
    return 2 * 6.674e-3 * np.sum(density * dz / r2)


def luminosity_distance(om, ol, h0):
    z = np.linspace(0, 1.0, 21)
    ez = np.sqrt(om * (1 + z) ** 3 + ol + (1 - om - ol) * (1 + z) ** 2)
    inv = 1 / ez
    comoving = np.zeros_like(z)
    comoving[1:] = np.cumsum(0.5 * (inv[1:] + inv[:-1]) * np.diff(z))
    ok = 1 - om - ol
    dh = 299792.458 / h0
    if np.isclose(ok, 0):
        dm = dh * comoving
    elif ok > 0:
        dm = dh / np.sqrt(ok) * np.sinh(np.sqrt(ok) * comoving)
    else:
        dm = dh / np.sqrt(-ok) * np.sin(np.sqrt(-ok) * comoving)
    return 5 * np.log10(dm[1:] * (1 + z[1:])) + 25


def planck_colour(params):
    t, radius = params
    lam = np.linspace(300e-9, 1000e-9, 30)
    h, c, kb = 6.62607015e-34, 2.99792458e8, 1.380649e-23
    x = h * c / (lam * kb * t)
    b = 2 * h * c**2 / lam**5 / np.expm1(x)
    peak = lam[np.argmax(b)]
    bands = np.select([lam < 450e-9, lam < 600e-9], [b, 0.5 * b], default=0.1 * b)
    mag = -2.5 * np.log10(np.trapezoid(bands, lam) * radius**2)
    assert 400e-9 < peak < 600e-9, f"peak at {peak:.3e}"
    return mag


def nbody_softened(pos, mass, soft):
    d = pos[np.newaxis, :, :] - pos[:, np.newaxis, :]
    r2 = np.einsum("ijk,ijk->ij", d, d) + soft**2
    inv_r3 = r2**-1.5
    np.fill_diagonal(inv_r3, 0.0)
    acc = np.einsum("ijk,ij,j->ik", d, inv_r3, mass)
    inv_r = np.sqrt(1 / r2)
    pot = -0.5 * np.sum(np.outer(mass, mass) * inv_r * (1 - np.eye(len(mass))))
    return acc, pot


def chebyshev_legendre(c, x):
    a = chebyshev.chebval(x, c)
    b = legendre.legval(x, c)
    dc = chebyshev.chebder(c)
    p = Polynomial(c)
    return a * b + chebyshev.chebval(x, dc) + p(x) + p.deriv()(x)


def hydrogen_radial(za, r):
    z, a = za
    rho = 2 * z * r / (3 * a)
    lag = 6 - 6 * rho + rho**2
    psi = np.exp(-rho / 2) * lag
    s = special.spherical_jn(1, r * z)
    bess = special.jv(1, r * a) + special.k0(r * z)
    return psi**2 * r**2 + s + bess


def mie_matrix(kappa):
    t = np.eye(4, dtype=complex)
    for row in kappa:
        m = np.array(
            [
                [np.cos(row[0]), 1j * np.sin(row[0]) / row[1]],
                [1j * row[1] * np.sin(row[0]), np.cos(row[0])],
            ]
        )
        t[:2, :2] = t[:2, :2] @ m
        t[2:, 2:] @= m * row[2]
    r = (t[0, 0] + t[0, 1] - t[1, 0] - t[1, 1]) / (t[0, 0] + t[0, 1] + t[1, 0] + t[1, 1])
    return np.abs(r) ** 2 + np.abs(np.trace(t)) ** 2


def shallow_water(params, n=16, steps=4):
    depth, amp, width = params
    x = np.linspace(0, 1, n, endpoint=False)
    dx = x[1] - x[0]
    h = depth + amp * np.exp(-(((x - 0.5) / width) ** 2))
    hu = np.zeros_like(h)
    dt = 0.2 * dx / np.sqrt(9.81 * h.max())
    q = np.stack([h, hu])
    for _ in range(steps):
        flux = np.stack([q[1], q[1] ** 2 / q[0] + 0.5 * 9.81 * q[0] ** 2])
        qp, fp = np.roll(q, -1, axis=1), np.roll(flux, -1, axis=1)
        speed = np.abs(q[1] / q[0]) + np.sqrt(9.81 * q[0])
        smax = np.maximum(speed, np.roll(speed, -1))
        face = 0.5 * (flux + fp) - 0.5 * smax * (qp - q)
        q = q - dt / dx * (face - np.roll(face, 1, axis=1))
    return q


def thomas_solver(kappa):
    n = kappa.size
    a = np.zeros(n)
    b = np.zeros(n)
    c = np.zeros(n)
    a[1:] = -kappa[:-1]
    c[:-1] = -kappa[:-1]
    b[:] = 0.1 + kappa
    b[1:] += kappa[:-1]
    d = np.ones(n)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x = np.zeros_like(d)
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return x


def charge_deposit(pos, owner):
    grid = np.zeros(8)
    for p in range(pos.shape[0]):
        s = pos[p] * 6
        i = np.floor(s).astype(int)
        w = s - i
        np.add.at(grid, i, 1 - w)
        np.add.at(grid, i + 1, w)
    extra = np.bincount(owner, weights=pos.ravel()[:5], minlength=8)
    phi = np.convolve(grid + extra, [0.25, 0.5, 0.25], mode="same")
    return np.gradient(phi, 0.5)


def standard_atmosphere(base, alt):
    t0, p0 = base
    lapse, g, r = 0.0065, 9.80665, 287.05
    t11 = t0 - lapse * 11000
    p11 = p0 * (t11 / t0) ** (g / (r * lapse))
    temp = np.piecewise(
        alt, [alt < 11000, alt >= 11000], [lambda z: t0 - lapse * z, lambda z: t11 + 0 * z]
    )
    p = np.where(
        alt < 11000,
        p0 * (np.maximum(temp, 1) / t0) ** (g / (r * lapse)),
        p11 * np.exp(-g * (alt - 11000) / (r * t11)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rho = p / (r * temp)
    return rho


# (name, function, arguments); integers and strings are constants
PROGRAMS = [
    ("lennard_jones_pairs", lennard_jones_pairs, (rng(0).random((5, 3)) * 3,)),
    (
        "velocity_verlet",
        velocity_verlet,
        (rng(1).random((4, 3)) * 2, rng(2).normal(size=(4, 3)) * 0.1),
    ),
    ("kepler_position", kepler_position, (1.2, 0.3)),
    (
        "orbital_elements",
        orbital_elements,
        (np.array([7000.0, 100.0, 200.0]), np.array([0.5, 7.2, 1.1])),
    ),
    ("kdv_spectral", kdv_spectral, (rng(3).normal(size=24),)),
    ("heat_equation", heat_equation, (rng(4).random((6, 6)),)),
    ("ising_mean_field", ising_mean_field, (rng(5).normal(size=(5, 5)), 0.44)),
    ("schrodinger_levels", schrodinger_levels, (rng(6).random(12),)),
    ("quantum_fidelity", quantum_fidelity, (np.array([1.0, 0.7, 0.4]),)),
    ("van_der_waals_volume", van_der_waals_volume, (np.array([3.0, 0.0427]), 1.5, 320.0)),
    ("buffer_ph", buffer_ph, (np.array([4.76, 0.1, 0.05]),)),
    (
        "magnetotelluric",
        magnetotelluric,
        (Earth([Layer(500.0, 50.0), Layer(1000.0, 300.0)], 20.0),),
    ),
    (
        "travel_time_tomography",
        travel_time_tomography,
        (rng(7).random(6) + 1.0, rng(8).random(20) * 5),
    ),
    ("gravity_anomaly", gravity_anomaly, (rng(9).random((8, 8)), np.array([1.2, 0.4]))),
    ("planck_colour", planck_colour, (np.array([5772.0, 1.0]),)),
    ("nbody_softened", nbody_softened, (rng(10).random((6, 2)), rng(11).random(6) + 0.1, 0.3)),
    (
        "chebyshev_legendre",
        chebyshev_legendre,
        (np.array([0.1, 0.5, -0.2, 0.3]), np.array([0.2, -0.4, 0.9])),
    ),
    ("shallow_water", shallow_water, (np.array([1.0, 0.3, 0.1]),)),
    (
        "standard_atmosphere",
        standard_atmosphere,
        (np.array([288.0, 101325.0]), np.array([500.0, 5000.0, 12000.0, 15000.0])),
    ),
]

# (name, function, arguments, error class, a pattern of its message)
REFUSED = [
    (
        "double_pendulum_rk4",
        double_pendulum_rk4,
        (np.array([1.3, 2.0, 0.5, 0.2]),),
        "LostDerivativeError",
        "like=x",
    ),
    (
        "luminosity_distance",
        luminosity_distance,
        (0.3, 0.65, 70.0),
        "LostDerivativeError",
        "like=x",
    ),
    ("mie_matrix", mie_matrix, (rng(12).random((4, 4)) + 0.2,), "LostDerivativeError", "complex"),
    ("thomas_solver", thomas_solver, (rng(13).random(10) + 0.5,), "LostDerivativeError", "like=x"),
    (
        "charge_deposit",
        charge_deposit,
        (rng(14).random((3, 4)), np.array([0, 1, 1, 2, 0])),
        "MutationError",
        "like=x",
    ),
    (
        "arrhenius_robertson",
        arrhenius_robertson,
        (np.array([1.5, 40.0]), 300.0),
        "LostDerivativeError",
        r"(?s)numpy\.linalg\.solve met .* build the array with cr\.array",
    ),
    (
        "hydrogen_radial",
        hydrogen_radial,
        (np.array([0.5, 2.0]), np.array([0.3, 1.2, 2.5])),
        "LostDerivativeError",
        r"(?s)scipy\.special\.spherical_jn met .*cr\.(adopt|primitive)",
    ),
]
