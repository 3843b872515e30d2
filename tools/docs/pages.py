# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Takes the Markdown pages of the checkout into the site, and finds dead links in them. A link to a source file leads
to a page with its text, a link to a public header to its page in the reference, and a link to a folder to its README.md
or to a list of its files."""

import os
import pathlib
import re


INCLUDE = "runtime/include"
TOP = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
IMAGES = (".svg", ".png", ".jpg", ".gif")
LANGUAGES = {
    ".cc": "cpp", ".h": "cpp", ".cmake": "cmake", ".go": "go", ".json": "json", ".py": "python", ".rs": "rust",
    ".sh": "bash", ".yaml": "yaml", ".yml": "yaml", "CMakeLists.txt": "cmake", "Containerfile": "docker",
}  # fmt: skip
LINK = re.compile(r"(!?)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(([^()\s]+)((?:\s+\"[^\"]*\")?)\)")
HTML_LINK = re.compile(r"""(<(?:img|a)\b[^>]*?\b(?:src|href)=")([^"]+)(")""")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def without_code(text):
    """The text with code and comments blanked, so that offsets and lines stay as they are."""
    text = re.sub(r"^( *)(```+|~~~+)[^\n]*\n.*?(?:^\1? *\2 *$|\Z)", blank, text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", blank, text, flags=re.S)


def slug_of(heading):
    """The anchor of a heading, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.replace("`", "").lower())
    return text.strip().replace(" ", "-")


def anchors_of(text):
    counts, result = {}, set()
    masked = re.sub(r"^( *)(```+|~~~+)[^\n]*\n.*?(?:^\1? *\2 *$|\Z)", blank, text, flags=re.M | re.S)
    for line in masked.split("\n"):
        match = HEADING.match(line)
        if match:
            slug = slug_of(match[2])
            result.add(slug if slug not in counts else f"{slug}-{counts[slug]}")
            counts[slug] = counts.get(slug, 0) + 1
    return result | set(re.findall(r"""\b(?:id|name)="([^"]+)\"""", masked))


def title_of(text, otherwise):
    for line in without_code(text).split("\n"):
        if line.startswith("# "):
            return line[2:].strip()
    return otherwise


class Pages:
    """The Markdown pages, the pages of source files that they need, and the findings: (path, line, text)."""

    def __init__(self, root, headers=()):
        self.root = pathlib.Path(root).resolve()
        self.headers = set(headers)  # pages of the reference
        self.texts, self.sources, self.folders, self.findings = {}, set(), set(), []
        self.images = set()
        for path in [*TOP, *self.below("docs")]:
            self.take(path)
        self.staged = {}
        queue = list(self.texts)
        while queue:  # a page that another one links to is a page, too
            path = queue.pop()
            self.staged[path] = self.rewrite(path)
            queue += [name for name in self.texts if name not in self.staged and name not in queue]

    def below(self, folder):
        return sorted(str(p.relative_to(self.root)) for p in (self.root / folder).rglob("*.md"))

    def take(self, path):
        if path not in self.texts and (self.root / path).is_file():
            self.texts[path] = (self.root / path).read_text(encoding="utf-8")

    @staticmethod
    def page(path):
        """Where a Markdown page of the checkout is in the site."""
        return "index.md" if path == "README.md" else path

    def rewrite(self, path):
        """The text of a page with links to pages of the site."""
        text, masked = self.texts[path], without_code(self.texts[path])
        edits = []
        for pattern, group in ((LINK, 3), (HTML_LINK, 2)):
            for match in pattern.finditer(masked):
                target = text[match.start(group) : match.end(group)]
                is_image = match[1] == "!" or "<img" in match[1]
                line = text.count("\n", 0, match.start()) + 1
                edits.append((match.start(group), match.end(group), self.target(path, line, target, is_image)))
        for begin, end, new in sorted(edits, reverse=True):
            text = text[:begin] + new + text[end:]
        return text

    def target(self, path, line, target, is_image=False):
        if re.match(r"[a-z]+:", target) and not target.startswith("file:"):
            if is_image:
                self.findings.append((path, line, f"the image {target} is on another host; put it into the checkout"))
            return target
        name, _, anchor = target.partition("#")
        full = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        file = self.root / full
        if full.startswith("..") or not file.exists():
            self.findings.append((path, line, f"dead link: {target}; there is no {full}"))
            return target
        if file.is_dir() and (file / "README.md").is_file():
            full, file = os.path.join(full, "README.md"), file / "README.md"
        if full.endswith(".md"):
            self.take(full)
            if anchor and anchor not in anchors_of(self.texts[full]):
                reason = f"{full} has no heading with the anchor #{anchor}"
                self.findings.append((path, line, f"dead link: {target}; {reason}"))
            new = self.page(full)
        elif full.endswith(IMAGES):
            self.images.add(full)
            return target
        else:
            new = self.source(full)
        if not name:
            return target
        return os.path.relpath(new, os.path.dirname(self.page(path)) or ".") + (f"#{anchor}" if anchor else "")

    def source(self, full):
        """The page of a source file or of a folder."""
        if full.startswith(INCLUDE) and full.endswith(".h"):
            page = f"api/{full.removeprefix(INCLUDE + '/')[:-2]}"
            if page in self.headers:
                return f"{page}.md"
        if (self.root / full).is_dir():
            self.folders.add(full)
            for child in sorted((self.root / full).iterdir()):
                name = f"{full}/{child.name}"
                if child.is_dir() and name not in self.folders and not (child / "README.md").is_file():
                    self.source(name)
                elif child.is_file() and not child.name.endswith(".md"):
                    self.sources.add(name)
            return f"source/{full}/index.md"
        self.sources.add(full)
        return f"source/{full}.md"

    def source_page(self, full):
        text = (self.root / full).read_text(encoding="utf-8", errors="replace")
        name = os.path.basename(full)
        language = LANGUAGES.get(name) or LANGUAGES.get(os.path.splitext(name)[1], "text")
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text) or [""]))
        return f"# {full}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"

    def folder_page(self, full):
        lines = [f"# {full}/", ""]
        for child in sorted((self.root / full).iterdir()):
            name = f"{full}/{child.name}"
            if name in self.folders:
                lines.append(f"* [{child.name}/]({child.name}/index.md)")
            elif name in self.sources:
                lines.append(f"* [{child.name}]({child.name}.md)")
            elif child.is_dir() and (child / "README.md").is_file():
                self.take(f"{name}/README.md")
                up = os.path.relpath(f"{name}/README.md", f"source/{full}")
                lines.append(f"* [{child.name}/]({up})")
        return "\n".join(lines) + "\n"
