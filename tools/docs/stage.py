#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""stage.py ROOT OUT: writes the input of Sphinx for the checkout ROOT, which is the pages, the reference and the
navigation, and OUT/names.json for link.py. Prints dead links of the pages and public names without a comment, and fails
if there are any."""

import json
import os
import pathlib
import re
import shutil
import sys

import pages
import reference

TOLERATED = "tools/docs/undocumented.txt"
# The order of the folders of docs/ in the navigation; others follow by name.
FOLDERS = ("start", "concepts", "guides", "operate", "migrate", "reference")
PROJECT = ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")


def undocumented(root, api):
    """Findings: names without a comment that the list does not tolerate, and lines of the list that are out of date."""
    file = root / TOLERATED
    lines = file.read_text().split("\n") if file.is_file() else []
    tolerated = {line: number for number, line in enumerate(lines, 1) if line and not line.startswith("#")}
    found = list(api.undocumented())
    for path, line, name in found:
        if name not in tolerated:
            yield path, line, f"{name} has no comment; say what it is, above it or behind it"
    for name in tolerated.keys() - {name for _, _, name in found}:
        yield TOLERATED, tolerated[name], f"{name} has a comment, or is gone; remove the line"


def relative(page, other):
    return os.path.relpath(other, os.path.dirname(page) or ".")


class Site:
    def __init__(self, root):
        self.api = reference.Api(root)
        self.writer = reference.Writer(self.api)
        self.writer.write_headers()
        self.writer.write_built_in()
        self.pages = pages.Pages(root, self.writer.pages)
        self.root = root

    def findings(self):
        return [*self.pages.findings, *undocumented(self.root, self.api)]

    def write(self, out):
        if out.exists():
            shutil.rmtree(out)
        self.texts = {self.pages.page(path): text for path, text in self.pages.staged.items()}
        self.captions, self.children, self.titles = [], {}, {}
        for full in sorted(self.pages.folders):
            self.texts[f"source/{full}/index.md"] = self.pages.folder_page(full)
        for full in sorted(self.pages.sources):
            self.texts[f"source/{full}.md"] = "---\nnosearch: true\n---\n" + self.pages.source_page(full)
        self.reference()
        self.navigation()
        for name, text in self.texts.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text(text, encoding="utf-8")
        for name in self.pages.images:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.root / name, out / name)
        tree = {"captions": self.captions, "children": self.children, "titles": self.titles}
        (out / "navigation.json").write_text(json.dumps(tree))
        (out / "names.json").write_text(json.dumps(self.names()))

    def names(self):
        """Where names and headers are described, for link.py."""
        headers = {header.path: reference.page_of(header.path) for header in self.api.public}
        headers = {path: f"{page}.html" for path, page in headers.items() if page in self.writer.pages}
        # Code in sentences may name these without a class or namespace.
        free = [d.qualified for header in [*self.api.public, *self.api.built_in] for d in header.declarations]
        return {"names": self.writer.names, "headers": headers, "free": sorted(set(free))}

    def reference(self):
        folders = {}
        for page, (folder, name, blocks) in sorted(self.writer.pages.items()):
            self.texts[f"{page}.md"] = "\n\n".join(blocks) + "\n"
            self.titles[page] = name
            folders.setdefault(folder, []).append(page)
        index, subjects = ["# API reference", ""], {f"api/kgen/{k}": v for k, v in reference.LAYERS.items()}
        subjects["api/k8s"] = "The built-in API"
        for folder, title in subjects.items():
            if folder not in folders:
                continue
            page, path = f"{folder}/index", folder.removeprefix("api/")
            lines = [f"# {title}: `{path}`", ""]
            lines += [f"* [{self.titles[name]}]({relative(page, name)}.md)" for name in folders[folder]]
            self.texts[f"{page}.md"] = "\n".join(lines) + "\n"
            self.titles[page] = title
            self.children.setdefault("api/index", []).append(page)
            self.children[page] = folders[folder]
            index.append(f"* [{title}: `{path}`]({page.removeprefix('api/')}.md)")
        # The page that says which header to include; headers get their links like all code.
        which = self.texts.get("runtime/include/kgen/README.md", "").split("\n", 1)[-1]
        self.texts["api/index.md"] = "\n".join(index) + "\n\n## Which header to include\n" + which

    def navigation(self):
        if "docs/README.md" not in self.texts:
            self.texts["docs/README.md"] = "# Documentation\n"
        folders = sorted({name.split("/")[1] for name in self.texts if re.match(r"docs/[^/]+/", name)})
        folders.sort(key=lambda name: (FOLDERS.index(name) if name in FOLDERS else len(FOLDERS), name))
        for folder in folders:
            self.folder(f"docs/{folder}")
        self.children["docs/README"] = self.in_order("docs")
        top = ["docs/README"] + [f"docs/{name}/README" for name in folders if name != "decisions"]
        project = [name for name in PROJECT if f"{name}.md" in self.texts]
        project += ["docs/decisions/README"] if "decisions" in folders else []
        self.captions = [["Documentation", top], ["API", ["api/index"]], ["Project", project]]
        # Sphinx warns of pages outside of its own navigation, which this one replaces.
        self.texts = {name: orphan(text) for name, text in self.texts.items()}

    def folder(self, folder):
        index = f"{folder}/README"
        names = self.in_order(folder)
        if f"{index}.md" not in self.texts:
            title = folder.rpartition("/")[2].replace("-", " ").capitalize()
            lines = [f"# {title}", ""]
            lines += [f"* [{pages.title_of(self.texts[f'{n}.md'], n)}]({relative(index, n)}.md)" for n in names]
            self.texts[f"{index}.md"] = "\n".join(lines) + "\n"
        if names:
            self.children[index] = names

    def in_order(self, folder):
        """The pages of a folder in the order in which its README.md links to them; others follow by name."""
        text = self.texts.get(f"{folder}/README.md", "")
        names = sorted(name[:-3] for name in self.texts if re.fullmatch(rf"{folder}/[^/]+\.md", name))
        links = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
        places = {os.path.normpath(f"{folder}/{link}"): place for place, link in reversed(list(enumerate(links)))}
        names = [name for name in names if not name.endswith("/README")]
        return sorted(names, key=lambda name: (places.get(f"{name}.md", len(links)), name))


def orphan(text):
    """Tells Sphinx that no navigation leads to the page."""
    if text.startswith("---\n"):
        return text.replace("---\n", "---\norphan: true\n", 1)
    return f"---\norphan: true\n---\n{text}"


def main(arguments):
    site = Site(pathlib.Path(arguments[0]).resolve())
    findings = site.findings()
    for path, line, text in sorted(findings):
        print(f"{path}:{line}: {text}")
    site.write(pathlib.Path(arguments[1]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
