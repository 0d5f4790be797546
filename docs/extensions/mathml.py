"""MathML for formulas: what every browser shows without a script, and so without a network."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

# What docutils does not know, and what it knows instead.
INSTEAD = {r"\dots": r"\ldots", r"\Big": ""}


def mathml(node: nodes.Element, **options: bool) -> str:
    """Return a formula of LaTeX as MathML."""
    formula = re.sub(r"\\[A-Za-z]+", lambda m: INSTEAD.get(m[0], m[0]), node.astext())
    return str(tex2mathml(formula, **options))


def inline(translator: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    translator.body.append(mathml(node))
    raise nodes.SkipNode


def display(translator: Any, node: nodes.math_block) -> None:
    """Write a formula in lines of its own."""
    translator.body.append(f"<div class='formula'>{mathml(node, as_block=True)}</div>")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
