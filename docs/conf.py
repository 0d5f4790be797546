"""Settings of the site, which ``make docs`` builds with Sphinx, without a network.

The source is the whole checkout, so that a link between two files holds here as it does in a
checkout. Notebooks are shown as they are stored; the pictures of docs/gallery are drawn.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
from names_elsewhere import TYPES

project = "chainrules"
author = "the chainrules authors"
copyright = author
version = release = version_of("chainrules")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "error_pages",
    "gallery",
    "links_of_names",
    "mathml",
    "reference_pages",
]

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "notebooks/*.ipynb",
    "benchmarks/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
]
exclude_patterns = [".*", "docs/_build", "docs/extensions", "src", "tests", "**/__pycache__"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"}

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"
html_math_renderer = "mathml"
# Lists of the names that pages refer to, as inventories that people can read (version 1), so that
# nothing is fetched: tests/documents/test_inventories.py compares them with the pages.
intersphinx_mapping = {
    "numpy": ("https://numpy.org/doc/stable/", "docs/inventories/numpy.inv"),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "docs/inventories/scipy.inv"),
    "python": ("https://docs.python.org/3/", "docs/inventories/python.inv"),
}
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # what is neither below nor numpydoc's own
numpydoc_xref_aliases = TYPES
autodoc_typehints = "none"
# JAX and autograd, of the extra `test`, are there; of these the interfaces are read without.
autodoc_mock_imports = ["casadi", "pytensor", "torch"]

html_theme = "pydata_sphinx_theme"
html_title = "chainrules"
html_favicon = "static/favicon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["filter.js"]
html_extra_path = ["redirect/index.html"]
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # light or dark, as the system is
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
}
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
