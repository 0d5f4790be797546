"""Links from ``cr.name`` in a text to the page of that name in the reference."""

import re
from typing import Any

from docutils import nodes
from public_names import GROUPS
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

NAMES = {name for group in GROUPS.values() for name in group}
WRITTEN = re.compile(r"@?cr\.(\w+)\b")


class LinkNames(SphinxPostTransform):
    """Make each piece of code in a text that begins with a public name a link to its page."""

    default_priority = 200

    def run(self, **kwargs: Any) -> None:
        here = self.env.current_document.docname
        for code in list(self.document.findall(nodes.literal)):
            found = WRITTEN.match(code.astext())
            if not found or found[1] not in NAMES or isinstance(code.parent, nodes.reference):
                continue
            page = f"docs/reference/generated/chainrules.{found[1]}"
            if page != here:
                code.replace_self(make_refnode(self.app.builder, here, page, "", code.deepcopy()))


def setup(app: Any) -> dict[str, bool]:
    app.add_post_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
