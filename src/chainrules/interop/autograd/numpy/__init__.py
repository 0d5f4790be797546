"""As ``autograd.numpy``: NumPy, by ``chainrules.numpy``, which see.

Where nothing is differentiated its functions are NumPy's own. Also plain ``import numpy as np``
is followed, but for the calls in which NumPy gives a traced value no say, as in ``np.array([x])``.
"""

import sys
from typing import Any

from .... import numpy as _numpy
from . import numpy_wrapper as _own

# Not by __getattr__, which would be called for each of them each time. NumPy's any, all, sum, max
# and more of Python's names are among them: nothing is computed in this module.
globals().update({name: part for name, part in vars(_numpy).items() if name[0] != "_"})
globals().update({name: getattr(_own, name) for name in _own.__all__})
for _name in ("linalg", "fft", "random"):
    sys.modules[f"{__name__}.{_name}"] = getattr(_numpy, _name)


def __getattr__(name: str) -> Any:
    return getattr(_numpy, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_numpy)})


__all__ = [name for name in __dir__() if not name.startswith("_")]
