"""Objects of linear systems that ``signal.lti`` and ``signal.dlti`` make of traced parts.

Where nothing is, they make SciPy's own objects.
"""

import numbers
from typing import Any

import numpy as np
from scipy import signal

from .....config import MissingRuleError, user_line
from .... import handed_out, innermost, iterate_leaves, seen, value
from ....containers import Children, registered
from .responses import vector
from .systems import abcd_normalize, cont2discrete
from .systems import state_space as in_state_space

# By the number of parts.
CLASSES = {2: signal.TransferFunction, 3: signal.ZerosPolesGain, 4: signal.StateSpace}
PARTS = {2: ("num", "den"), 3: ("zeros", "poles", "gain"), 4: ("A", "B", "C", "D")}
COUNTS = {cls: count for count, cls in CLASSES.items()}


def checked(parts):
    """The parts in SciPy's form; polynomials as they are, for a leading zero may move."""
    if len(parts) == 2:
        return parts
    if len(parts) == 3:
        return vector(parts[0]), vector(parts[1]), parts[2]
    return abcd_normalize(*parts)


def system_of(parts, dt):
    """An object of SciPy's, where nothing is traced; ``dt`` is None in continuous time."""
    if innermost((parts, dt)) is None:
        return signal.lti(*parts) if dt is None else signal.dlti(*parts, dt=dt)
    return TracedSystem(checked(parts), dt)


class TracedSystem:
    """Stands for one of SciPy's systems; its parts are those of ``PARTS``."""

    __slots__ = ("dt", "parts")

    def __init__(self, parts, dt):
        self.parts, self.dt = tuple(parts), dt

    def stands_for(self):
        return type(value(self))

    def __repr__(self):
        return f"<traced {value(self)!r}>"

    def __getattr__(self, name):
        if name in ("zeros", "poles"):
            parts = self.to_zpk().parts
            return parts[0] if name == "zeros" else parts[1]
        if name in PARTS[len(self.parts)]:
            parts = seen(signal.normalize)(*self.parts) if len(self.parts) == 2 else self.parts
            return parts[PARTS[len(parts)].index(name)]
        if name.startswith("__"):
            raise AttributeError(name)
        system = value(self)
        if type(system) is TracedSystem:  # of what stands for numbers, as in a batch
            raise AttributeError(name)
        own = getattr(system, name)  # SciPy's own error if it has none
        if innermost((own,)) is None and not callable(own):
            return own  # the numbers of inputs and outputs
        raise MissingRuleError(f"{name} of a system with traced parts has no rule, in "
                               f"{user_line()}.\n  write functions of its parts")  # fmt: skip

    # ---- other forms ----

    def converted(self, count, convert):
        given = len(self.parts)
        parts = self.parts if given == count else seen(convert[given])(*self.parts)
        return TracedSystem(checked(parts), self.dt)

    def to_tf(self):
        return self.converted(2, {3: signal.zpk2tf, 4: signal.ss2tf})

    def to_zpk(self):
        return self.converted(3, {2: signal.tf2zpk, 4: signal.ss2zpk})

    def to_ss(self):
        return TracedSystem(in_state_space(self.parts), self.dt)

    def to_discrete(self, dt, method="zoh", alpha=None):
        *parts, dt = cont2discrete(self.parts, dt, method, alpha)
        return TracedSystem(checked(parts), dt)

    # ---- what it answers ----

    def answer(self, continuous, samples, args, options):
        return seen(continuous if self.dt is None else samples)(self, *args, **options)

    def output(self, *args, **options):
        return self.answer(signal.lsim, signal.dlsim, args, options)

    def impulse(self, *args, **options):
        return self.answer(signal.impulse, signal.dimpulse, args, options)

    def step(self, *args, **options):
        return self.answer(signal.step, signal.dstep, args, options)

    def bode(self, *args, **options):
        return self.answer(signal.bode, signal.dbode, args, options)

    def freqresp(self, *args, **options):
        return self.answer(signal.freqresp, signal.dfreqresp, args, options)


def _children(system):
    names = PARTS[len(system.parts)]
    return Children((*names, "dt"), (*system.parts, system.dt), _rebuilt)


def _rebuilt(values):
    *parts, dt = values
    if all(map(is_number, iterate_leaves(values))):
        return system_of(parts, dt)
    return TracedSystem(parts, dt)  # of what stands for numbers, as in a recording


def is_number(x):
    return x is None or isinstance(x, np.ndarray | numbers.Number)


registered[TracedSystem] = _children


class SystemClass(type):
    """The type of the classes that stand before SciPy's."""

    def __call__(cls, *system, **options):
        if "own" not in vars(cls):  # a user's own
            return super().__call__(*system, **options)
        system, options = handed_out((system, options))
        if innermost((*system, *options.values())) is None:
            return cls.own(*system, **options)
        if len(system) == 1 and type(system[0]) is TracedSystem:
            forms = {2: TracedSystem.to_tf, 3: TracedSystem.to_zpk, 4: TracedSystem.to_ss}
            return forms[COUNTS[cls.own]](system[0])
        count = COUNTS.get(cls.own, len(system))
        if len(system) != count:
            return cls.own(*value(system), **value(options))  # SciPy's own error
        dt = options.get("dt", True if cls.own is signal.dlti else None)
        return system_of(system, dt)

    def __instancecheck__(cls, x):
        stands_for = x.stands_for() if type(x) is TracedSystem else type(x)
        return issubclass(stands_for, vars(cls).get("own", cls))

    def __subclasscheck__(cls, other):
        return vars(cls).get("own", cls) in other.__mro__


def standing_before(own):
    about = {"own": own, "__doc__": own.__doc__, "__module__": __name__}
    made = SystemClass(own.__name__, (own,), about)
    globals()[own.__name__] = made
    return made


INSTEAD: dict[str, Any] = {
    cls.__name__: standing_before(cls) for cls in (signal.lti, signal.dlti, *CLASSES.values())
}
