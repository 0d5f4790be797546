"""Methods that a library generates for a class of an adopted module, with globals of their own."""

import math

import pytest
from modules_of_text import module_of, slope

import chainrules as cr

CONVERTED = """
import math


def generated(cls, converters):
    names = {f"__converter_{name}": f for name, f in converters.items()}
    given = ", ".join(f"{name}=1.0" for name in converters)
    lines = [f"    self.{name} = __converter_{name}({name})" for name in converters]
    text = "\\n".join([f"def __init__(self, {given}):", *lines])
    text += "\\ndef kind(self):\\n    return __converter_x is float, __converter_y"
    exec(text, names)
    for name in ("__init__", "kind"):
        names[name].__module__ = cls.__module__
        setattr(cls, name, names[name])
    return cls


class Point:
    def length(self):
        return math.hypot(self.x, self.z) + self.y


generated(Point, {"x": float, "z": float, "y": math.exp, "w": int})


def f(t):
    return Point(t * t, z=t, y=0.1 * t, w=2).length()
"""


def test_converters_that_are_called_only():
    module = module_of(CONVERTED, "converted")
    names = module.Point.__init__.__globals__
    with cr.adopt(module):
        assert names["__converter_x"] is float  # it is read as a value, too
        assert names["__converter_z"] is not float
        assert names["__converter_w"] is int
        assert module.f(0.7) == pytest.approx(math.hypot(0.49, 0.7) + math.exp(0.07))
    assert names["__converter_z"] is float
    assert names["__converter_y"] is math.exp


def test_a_gradient_through_converters():
    source = CONVERTED.replace("__converter_x is float, __converter_y", "float")
    module = module_of(source, "converted_throughout")
    with pytest.raises(cr.LostDerivativeError):
        cr.grad(module.f)(0.7)
    with cr.adopt(module):
        assert cr.grad(module.f)(0.7) == pytest.approx(slope(module.f, 0.7), rel=1e-8)
        assert cr.jvp(module.f, (0.7,), (1.0,))[1] == pytest.approx(slope(module.f, 0.7), rel=1e-8)


def test_classes_of_attrs():
    pytest.importorskip("attr")
    module = module_of(
        """
        import attr

        @attr.s
        class Point:
            x = attr.ib(converter=float)
            y = attr.ib(default=1.0, converter=float)

        def f(t):
            p = Point(t)
            return p.x * p.x + p.y * Point(2.0, y=t).y
        """,
        "classes_of_attrs",
    )
    with cr.adopt(module):
        assert cr.grad(module.f)(0.7) == pytest.approx(2 * 0.7 + 1.0)
        assert repr(module.Point(2)) == "Point(x=2.0, y=1.0)"
