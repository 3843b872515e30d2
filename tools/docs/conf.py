# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""The configuration of Sphinx. Its input is what stage.py writes."""

import html
import json
import pathlib

project = "kgen"
copyright = "The kgen Authors"
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 6
root_doc = "index"
html_theme = "furo"
html_title = "kgen"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_static_path = [str(pathlib.Path(__file__).parent / "static")]
html_css_files = ["site.css"]
highlight_language = "text"
smartquotes = False
# Comments have `...` in their examples, which is no C++; and a page may skip a level of headings.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]


class Navigation:
    """The tree of pages at the left, from navigation.json of stage.py. Sphinx's own function gives the same, but copies
    the headings of all pages for each page, which takes three times as long as all the rest."""

    def __init__(self, app):
        tree = json.loads((pathlib.Path(app.srcdir) / "navigation.json").read_text())
        self.captions, self.children, self.titles = tree["captions"], tree["children"], tree["titles"]
        self.parents = {child: page for page, children in self.children.items() for child in children}
        self.app = app

    def items(self, pages, page, current, level):
        lines = ["<ul>"]
        for name in pages:
            title = self.titles.get(name) or self.app.env.titles[name].astext()
            mark = " current" if name in current else ""
            uri = "#" if name == page else self.app.builder.get_relative_uri(page, name)
            lines.append(f'<li class="toctree-l{level}{mark}"><a class="reference internal{mark}" href="{uri}">')
            lines.append(f"{html.escape(title)}</a>")
            if name in self.children:
                lines += self.items(self.children[name], page, current, level + 1)
            lines.append("</li>")
        return [*lines, "</ul>"]

    def tree(self, page):
        current, name = set(), page
        while name is not None:
            current.add(name)
            name = self.parents.get(name)
        lines = []
        for caption, pages in self.captions:
            lines.append(f'<p class="caption" role="heading"><span class="caption-text">{caption}</span></p>')
            lines += self.items(pages, page, current, 1)
        return "".join(lines)


def setup(app):
    navigation = []

    def replace(app, page, template, context, doctree):
        if not navigation:
            navigation.append(Navigation(app))
        context["toctree"] = lambda **options: navigation[0].tree(page)

    # Before the theme, which asks for the tree in its own handler.
    app.connect("html-page-context", replace, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
