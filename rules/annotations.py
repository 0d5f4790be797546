"""Words for what no class has in common: what annotations say of values, tangents and functions.

``def pull(self, ybar: Tangentlike, x: Value)`` takes a cotangent and what it belongs to. To a type
checker each is ``Any``: a NumPy array, a float, a list of these and a traced value share no class.
"""

from typing import Any

# A number, an array, or a container of these; traced or not.
Value = Any
# A tangent or a cotangent: a number or an array, a structural tangent, a zero, or a thunk.
Tangentlike = Any
# Whatever can be called and have a rule: a function, a ufunc, a class, an object with fields.
Function = Any
# What stands between the brackets of ``x[index]``.
Index = Any
