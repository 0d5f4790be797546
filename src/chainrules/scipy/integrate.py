"""``scipy.integrate``, with functions that see traced values.

The function that is integrated may take traced values in ``args``, capture them, or find them in
containers and objects that it captures. What it reads from global variables cannot be seen: that
is an error.

- ``quad``, ``quad_vec``, ``dblquad``, ``tplquad``, ``nquad``: the integral of the derivative, to
  the tolerances of the call, and what the end points add. A jump or a pole whose place depends on
  a parameter adds more, which nobody can see in the values of a function: split the integral there.
- ``tanhsinh``, ``nsum``, ``cubature``: the derivative of the rule, at nodes that move with the
  limits and as many as its sum needs. That of a series is the sum of the derivatives of its terms;
  how many there are between two limits is constant.
- ``solve_ivp``, ``odeint``: the derivative of the steps of a Runge-Kutta method, whose sizes are
  held constant. Of RK23, RK45, DOP853 and Radau these are the steps that SciPy took, so the
  derivative is that of the numbers in the answer, also where tolerances are loose. For BDF, LSODA
  and ``odeint`` the problem is solved once more, by DOP853, or by Radau where it is stiff. With few
  states and parameters all directions share one linearization of the right-hand side; else reverse
  mode keeps the states, and pulls back through one evaluation at a time. Times, dense output and
  events are differentiated too; with ``t_eval=None`` the times between the ends are constants.
  ``jac=cr.ad`` gives Radau, BDF and LSODA the exact Jacobian; with ``jac_sparsity`` beside it Radau
  and BDF get a sparse one, computed by as few directions as its columns have colors.
- ``solve_bvp``: by the implicit function theorem, on the mesh of the answer.

Examples
--------
>>> import numpy as np
>>> import chainrules as cr
>>> from chainrules.scipy import integrate
>>> def area(k):
...     return integrate.quad(lambda t: np.exp(-k * t), 0, np.inf)[0]  # 1 / k
>>> round(float(cr.grad(area)(2.0)), 9), round(float(cr.hessian(area)(2.0)), 9)
(-0.25, 0.25)

>>> zeta = lambda p: integrate.nsum(lambda n: n**-p, 1, np.inf).sum
>>> round(float(cr.grad(zeta)(2.0)), 8)
-0.93754825

>>> oscillating = lambda t, y: [y[1], 1e3 * (1 - y[0] ** 2) * y[1] - y[0]]
>>> integrate.solve_ivp(oscillating, (0, 100), [2.0, 0.0], "Radau", jac=cr.ad).success
True

>>> def fallen(g, t):
...     answer = integrate.solve_ivp(lambda t, y: [y[1], g], (0, t), [0.0, 0.0])
...     return answer.y[0, -1]
>>> [round(float(bar), 9) for bar in cr.grad(fallen, argnums=(0, 1))(9.81, 2.0)]
[2.0, 19.62]
"""

from .._mirrors import mirror
from ..rules.rulesets.scipy import integrate as _rules
from ._exact import OF_INTEGRATE, exact

mirror(__name__, "scipy.integrate", _rules)
for _name in OF_INTEGRATE:
    globals()[_name] = exact(_name, globals()[_name], OF_INTEGRATE)
