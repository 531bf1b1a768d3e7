"""How the documentation site is built: `make docs`. Nothing is fetched, neither while it is built nor when it is read."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "site"))

from docstrings import as_numpydoc, whole  # noqa: E402
from pages import properties, write_pages  # noqa: E402

import fewsight  # noqa: E402

project = "fewsight"
author = "The fewsight authors"
copyright = author
version = release = fewsight.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["site"]
nitpicky = False

# Pages are Markdown that reads well on disk too; headings are link targets as they are there.
myst_heading_anchors = 4
# Files of the project that no page shows, such as experiments/README.md, are linked to as they lie on disk.
suppress_warnings = ["config.cache"]

# The reference is made from the program and from docstrings before anything is read.
write_pages(HERE / "reference" / "generated")
autosummary_generate = True
autosummary_context = {"properties": properties()}
autodoc_typehints = "none"  # docstrings say it in words, with shapes
toc_object_entries_show_parents = "hide"
autodoc_member_order = "groupwise"
templates_path = ["site/templates"]
numpydoc_show_class_members = False  # the template of a class lists them
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["tutorials"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "pages.TutorialOrder",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # times differ from machine to machine
    "write_computation_times": False,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = f"fewsight {version}"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "fewsight"},
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_align": "left",
    "show_toc_level": 2,
}
html_sidebars = {"index": []}


def setup(app):
    """Docstrings reach numpydoc in its own style; small buttons of the theme get a name for those who cannot see them."""
    app.connect("autodoc-process-docstring", _numpydoc_style, priority=400)  # numpydoc itself has 500
    app.connect("build-finished", _name_the_buttons)


def _numpydoc_style(app, what, name, obj, options, lines):
    """A method that overrides another may leave its parameters to it."""
    *path, last = name.split(".")
    kind = getattr(fewsight, path[-1], None) if what == "method" else None
    lines[:] = as_numpydoc(whole(kind, last, "\n".join(lines)).splitlines())


def _name_the_buttons(app, error):
    bare, named = (
        '<summary><span class="toctree-toggle"',
        '<summary aria-label="show its pages"><span class="toctree-toggle"',
    )
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if bare in text:
            page.write_text(text.replace(bare, named), encoding="utf-8")
