"""Gallery: pictures of programs, drawn here, and those that notebooks have stored."""

import base64
import runpy
import shutil
from pathlib import Path
from typing import Any

import nbformat

TOP = Path(__file__).parents[2]
FOLDER = TOP / "docs" / "generated" / "gallery"
CARD = """
:::{{grid-item-card}} {title}
:link: {page}
:link-type: doc
:img-top: {picture}
:img-alt: {alt}
:::
"""
HEAD = """# Gallery

Pictures of programs that fit on a page, drawn when this site was built, and those of the tutorials.

::::{grid} 1 2 2 3
:gutter: 3
"""
PAGE = """# {title}

{sentence}

![{title}]({name}.png)

```python
{program}
```

[All pictures](index.md)
"""


def write_gallery(app: Any, config: Any) -> None:
    """Draw the programs, write the pictures of all notebooks, and the page that shows them."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    programs = sorted(TOP.glob("docs/gallery/*.py"))
    cards = [_drawn(path) for path in programs]
    for path in sorted(TOP.glob("notebooks/*.ipynb"), key=_number):
        cards += _cards(path)
    contents = "\n".join(["```{toctree}", ":hidden:", "", *(path.stem for path in programs), "```"])
    text = "".join([HEAD, *cards, "::::\n\n", contents, "\n"])
    (FOLDER / "index.md").write_text(text, encoding="utf-8")


def _drawn(path: Path) -> str:
    """Draw the picture of a program; write it and its page, and return a card."""
    module = runpy.run_path(str(path))
    module["draw"]().savefig(FOLDER / f"{path.stem}.png", dpi=100)
    title, _, sentence = module["__doc__"].partition(": ")
    program = path.read_text(encoding="utf-8").partition('"""\n\n')[2].strip()
    sentence = sentence[0].upper() + sentence[1:]
    page = PAGE.format(title=title, sentence=sentence, name=path.stem, program=program)
    (FOLDER / f"{path.stem}.md").write_text(page, encoding="utf-8")
    page_of = f"/docs/generated/gallery/{path.stem}"
    return CARD.format(title=title, page=page_of, picture=f"{path.stem}.png", alt=sentence)


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
                cards.append(
                    CARD.format(
                        title=name, page=f"/notebooks/{path.stem}", picture=picture, alt=alt
                    )
                )
    return cards


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
