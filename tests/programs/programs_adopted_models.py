"""Models that are integrated by SciPy, as people write them, which run when adopted."""

# ruff: noqa: E731, N803, N806, RUF059 (programs as users wrote them)

import math
from dataclasses import dataclass

import numpy as np
import scipy.integrate
from scipy import integrate
from scipy.integrate import cumulative_trapezoid, odeint, quad, solve_bvp, solve_ivp

TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def planck_fraction(T):
    x = lambda wl: 14388.0 / (wl * T)
    f = lambda wl: 1.0 / (wl**5 * (math.exp(x(wl)) - 1.0))
    part, _ = quad(f, 2.0, 6.0, epsabs=0, epsrel=1e-12)
    return part * T**-4 * 1e9


def comoving_distance(H0, omega_m):
    omega_l = 1.0 - omega_m
    E = lambda z: math.sqrt(omega_m * (1 + z) ** 3 + omega_l)
    return 299792.458 / H0 * integrate.quad(lambda z: 1.0 / E(z), 0.0, 1.5)[0]


def expected_utility(mu, sigma):
    def integrand(x, mu, sigma):
        density = np.exp(-0.5 * ((x - mu) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
        return -math.exp(-0.5 * x) * density

    value, error = scipy.integrate.quad(integrand, -np.inf, np.inf, args=(mu, sigma))
    return value


@dataclass
class Pendulum:
    length: float
    damping: float
    g: float = 9.81

    def derivatives(self, t, state):
        theta, omega = state
        out = np.zeros(2)
        out[0] = omega
        out[1] = -self.g / self.length * math.sin(theta) - self.damping * omega
        return out

    def simulate(self, theta0):
        t = np.linspace(0, 0.5, 4)
        sol = solve_ivp(self.derivatives, (0, 0.5), [theta0, 0.0], "DOP853", t_eval=t, **TIGHT)
        return sol.t, sol.y


def pendulum(length, damping, theta0):
    t, y = Pendulum(length, damping).simulate(theta0)
    kinetic = np.zeros(len(t))
    for i in range(len(t)):
        kinetic[i] = 0.5 * (length * y[1, i]) ** 2
    return cumulative_trapezoid(kinetic, t, initial=0)[-1] + float(y[0, -1])


def sir(beta, gamma):
    params = {"beta": beta, "gamma": gamma, "N": 10.0}

    def model(y, t, p):
        S, I, R = y  # noqa: E741
        new = p["beta"] * S * I / p["N"]
        return [-new, new - p["gamma"] * I, p["gamma"] * I]

    out = odeint(model, [9.0, 1.0, 0.0], np.linspace(0, 1, 3), args=(params,), **TIGHT)
    return out[:, 1]


def projectile_range(speed, drag):
    def fly(t, s):
        v = math.hypot(s[2], s[3])
        return [s[2], s[3], -drag * v * s[2], -9.81 - drag * v * s[3]]

    def landed(t, s):
        return s[1]

    landed.terminal = True
    landed.direction = -1
    start = [0.0, 0.0, speed * math.cos(0.7), speed * math.sin(0.7)]
    return solve_ivp(fly, (0, 5), start, events=landed, **TIGHT).y[0, -1]


def fin_temperature(m, tip):
    def rates(x, y):
        return np.vstack((y[1], m**2 * y[0] * (1 + 0.1 * y[0])))

    def ends(ya, yb):
        return np.array([ya[0] - 1.0, yb[1] + tip * yb[0]])

    x = np.linspace(0, 1, 6)
    sol = solve_bvp(rates, ends, x, np.ones((2, x.size)), tol=1e-9)
    return float(sol.sol(0.5)[0])


PROGRAMS = [
    ("planck_fraction", planck_fraction, (900.0,)),
    ("comoving_distance", comoving_distance, (70.0, 0.3)),
    ("expected_utility", expected_utility, (0.1, 0.4)),
    ("pendulum", pendulum, (1.2, 0.3, 0.5)),
    ("sir", sir, (1.4, 0.3)),
    ("projectile_range", projectile_range, (4.0, 0.1)),
    ("fin_temperature", fin_temperature, (1.5, 0.4)),
]

REFUSED: list = []
