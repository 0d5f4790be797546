"""Links from code in a text to the page of the name that it begins with.

``cr.name`` leads to the reference here; names of NumPy, SciPy and Python to their documentation, by
the inventories in docs/inventories.
"""

import re
from typing import Any

from docutils import nodes
from names_elsewhere import full_name
from public_names import GROUPS
from sphinx.ext.intersphinx import InventoryAdapter
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

NAMES = {name for group in GROUPS.values() for name in group}
WRITTEN = re.compile(r"@?cr\.(\w+)\b")
REFERENCE = "docs/generated/reference/"
# Docstrings name the functions beside them without ``cr.``; words such as ``map`` mean others, too.
PLAIN = {name for name in NAMES if "_" in name} | {*GROUPS["Derivatives"]}


class LinkNames(SphinxPostTransform):
    """Make each piece of code in a text that begins with a known name a link to its page."""

    default_priority = 200

    def run(self, **kwargs: Any) -> None:
        here = self.env.current_document.docname
        inventory = InventoryAdapter(self.env).main_inventory
        elsewhere = {name: item.uri for kind in inventory.values() for name, item in kind.items()}
        for code in list(self.document.findall(nodes.literal)):
            if isinstance(code.parent, nodes.reference):
                continue
            text = code.astext()
            if name := self._name(text, here):
                page = f"{REFERENCE}chainrules.{name}"
                if page != here:
                    link = make_refnode(self.app.builder, here, page, "", code.deepcopy())
                    code.replace_self(link)
            elif address := elsewhere.get(full_name(text, here.startswith(REFERENCE))):
                code.replace_self(nodes.reference("", "", code.deepcopy(), refuri=address))

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
