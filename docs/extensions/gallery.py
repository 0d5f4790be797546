"""Gallery: the pictures that notebooks have stored, each with a link to where it is made."""

import base64
import shutil
from pathlib import Path
from typing import Any

import nbformat

TOP = Path(__file__).parents[2]
FOLDER = TOP / "docs" / "generated" / "gallery"
CARD = """
:::{{grid-item-card}} {title}
:link: /notebooks/{notebook}
:link-type: doc
:img-top: {picture}
:img-alt: {alt}
:::
"""
HEAD = """# Gallery

The pictures of the tutorials, as they were made by the programs beside them.

::::{grid} 1 2 2 3
:gutter: 3
"""


def write_gallery(app: Any, config: Any) -> None:
    """Write the pictures of all notebooks into files, and the page that shows them."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    cards = [
        card for path in sorted(TOP.glob("notebooks/*.ipynb"), key=_number) for card in _cards(path)
    ]
    (FOLDER / "index.md").write_text("".join([HEAD, *cards, "::::\n"]), encoding="utf-8")


def _number(path: Path) -> int:
    return int(path.stem.partition("_")[0])


def _cards(path: Path) -> list[str]:
    """Write the pictures of a notebook; return a card for each, named by the heading above it."""
    title = heading = ""
    cards = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                if line.startswith("#"):
                    heading = line.lstrip("# ")
                    title = title or heading
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                picture = f"{path.stem}_{len(cards) + 1}.png"
                (FOLDER / picture).write_bytes(base64.b64decode(output.data["image/png"]))
                name = title if heading == title else f"{title}. {heading}"
                alt = f"Picture of the tutorial: {heading}"
                cards.append(CARD.format(title=name, notebook=path.stem, picture=picture, alt=alt))
    return cards


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
