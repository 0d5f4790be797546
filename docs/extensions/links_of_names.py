"""Links from ``cr.name`` in a text to the page of that name in the reference."""

import re
from typing import Any

from docutils import nodes
from public_names import GROUPS
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

NAMES = {name for group in GROUPS.values() for name in group}
WRITTEN = re.compile(r"@?cr\.(\w+)\b")
REFERENCE = "docs/generated/reference/"
# Docstrings name the functions beside them without ``cr.``; words such as ``map`` mean others, too.
PLAIN = {name for name in NAMES if "_" in name} | {*GROUPS["Derivatives"]}


class LinkNames(SphinxPostTransform):
    """Make each piece of code in a text that begins with a public name a link to its page."""

    default_priority = 200

    def run(self, **kwargs: Any) -> None:
        here = self.env.current_document.docname
        for code in list(self.document.findall(nodes.literal)):
            name = self._name(code.astext(), here)
            if name is None or isinstance(code.parent, nodes.reference):
                continue
            page = f"{REFERENCE}chainrules.{name}"
            if page != here:
                code.replace_self(make_refnode(self.app.builder, here, page, "", code.deepcopy()))

    @staticmethod
    def _name(text: str, here: str) -> str | None:
        """Return the public name that a piece of code begins with, or is."""
        if text in NAMES and (text[0].isupper() or (here.startswith(REFERENCE) and text in PLAIN)):
            return text
        found = WRITTEN.match(text)
        return found[1] if found and found[1] in NAMES else None


def setup(app: Any) -> dict[str, bool]:
    app.add_post_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
