"""Names of NumPy, SciPy and Python, as the inventories in docs/inventories list them."""

import re

from public_names import GROUPS

DOTTED = re.compile(r"[A-Za-z]\w*(?:\.\w+)+")
# The modules of SciPy that programs name without it, as after ``from scipy import optimize``.
SHORT = re.compile(r"(?=(?:integrate|interpolate|ndimage|optimize|signal|special|stats)\.)")
ERRORS = (
    "AttributeError", "ImportError", "IndexError", "NotImplementedError", "RuntimeError",
    "TypeError", "ValueError",
)  # fmt: skip
# The words for types in docstrings, besides those that numpydoc knows.
TYPES = {
    **{name: f"chainrules.{name}" for x in GROUPS.values() for name in x if name[0].isupper()},
    **{name: f":exc:`python:{name}`" for name in ERRORS},
    "Any": "typing.Any",
    "array_like": "numpy.typing.ArrayLike",
    "callable": ":obj:`python:callable`",  # numpydoc's own has brackets
    "bool": ":class:`python:bool`",
    "dtype": "numpy.dtype",
    "None": ":data:`python:None`",
    "sequence": "collections.abc.Sequence",
    "type": ":class:`python:type`",
}


def full_name(text: str, in_reference: bool = False) -> str:
    """Return the name that a piece of code begins with, as an inventory has it.

    In the reference a piece that is a name of Python's, such as an error's, is one too.
    """
    found = DOTTED.match(text)
    if not found:
        return text if in_reference else ""
    return SHORT.sub("scipy.", re.sub(r"^np\.", "numpy.", found[0]), count=1)
