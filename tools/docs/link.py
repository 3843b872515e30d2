#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Works on the HTML of the site.

link.py finish SITE NAMES.json  makes links of the names of the API in code, copies what Debian's theme takes from outside
                                of the site, and mends its scripts and dark colors
link.py check SITE              prints dead links, what a page would load from another host, and scripts that cannot run;
                                fails if there are any
"""

import html.parser
import json
import os
import pathlib
import re
import shutil
import sys
import urllib.parse

# Elements that make a browser load something, with the attribute that says what. A link of rel "canonical" and the like
# loads nothing, but there is none.
LOADS = {
    "img": ("src", "srcset"), "script": ("src",), "link": ("href",), "iframe": ("src",), "source": ("src", "srcset"),
    "video": ("src", "poster"), "audio": ("src",), "object": ("data",), "embed": ("src",),
    "use": ("href", "xlink:href"), "image": ("href", "xlink:href"),
}  # fmt: skip
REMOTE = re.compile(r"^\s*(?:https?:)?//", re.I)
CSS_URL = re.compile(r"""(?:url\(\s*['"]?|@import\s+['"])\s*([^'")\s]*)""", re.I)


class Page(html.parser.HTMLParser):
    """The links, loads and anchors of a page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.links, self.loads, self.anchors, self.styles, self.in_style = [], [], set(), [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        for key in ("id", "name"):
            if key in values and (key == "id" or tag == "a"):
                self.anchors.add(values[key])
        if tag in ("a", "area") and values.get("href"):
            self.links.append((self.getpos()[0], values["href"]))
        for key in LOADS.get(tag, ()):
            for url in re.split(r",\s+", values.get(key) or "") if key == "srcset" else [values.get(key)]:
                if url:
                    self.loads.append((self.getpos()[0], url.split()[0]))
        self.styles += [values["style"]] if values.get("style") else []
        self.in_style = tag == "style"

    def handle_endtag(self, tag):
        self.in_style = False

    def handle_data(self, data):
        if self.in_style:
            self.styles.append(data)


def check(site):
    """Findings: (path, line, text)."""
    parsed = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in parsed.items():
        name = path.relative_to(site)
        for line, url in [*page.links, *page.loads]:
            parts = urllib.parse.urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = path
            if parts.path:
                target = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(parts.path)))
            if not target.exists():
                yield name, line, f"dead link: {url}"
            elif parts.fragment and target in parsed and (line, url) in page.links:
                if urllib.parse.unquote(parts.fragment) not in parsed[target].anchors:
                    yield name, line, f"dead link: {url}; the page has no such anchor"
        for line, url in page.loads:
            if REMOTE.match(url):
                yield name, line, f"loads {url} from another host"
        for text in page.styles:
            for url in filter(REMOTE.match, CSS_URL.findall(text)):
                yield name, 1, f"loads {url} from another host"
    yield from unreachable(site, parsed)
    for path in sorted(site.rglob("*.js")):
        for match in IMPORT.finditer(path.read_text(encoding="utf-8")):
            yield path.relative_to(site), 1, f"imports {match[1]}, which no browser does from a file"
    for path in sorted(site.rglob("*.css")):
        for url in CSS_URL.findall(path.read_text(encoding="utf-8")):
            if REMOTE.match(url):
                yield path.relative_to(site), 1, f"loads {url} from another host"
            elif not url.startswith(("data:", "#")):
                if url.startswith("/") or not (path.parent / clean(url)).exists():
                    yield path.relative_to(site), 1, f"dead link: {url}"


def unreachable(site, parsed):
    """Pages to which no link leads from the first page. The navigation leads to nearly all, so this is also its test."""
    found, queue = set(), [site / "index.html"]
    while queue:
        path = queue.pop()
        if path in found or path not in parsed:
            continue
        found.add(path)
        urls = [urllib.parse.unquote(clean(url)) for _, url in parsed[path].links]
        queue += [pathlib.Path(os.path.normpath(path.parent / url)) for url in urls if url and ":" not in url]
    for path in parsed.keys() - found if found else []:
        if path.name not in ("search.html", "genindex.html"):
            yield path.relative_to(site), 1, "no link leads to this page"


def clean(url):
    """A relative URL as a path."""
    return re.split(r"[?#]", url)[0]


class Names:
    """Finds where a name is described."""

    def __init__(self, table):
        self.headers, self.urls = table["headers"], table["names"]
        self.suffixes, self.free, self.constants = {}, {}, {}
        for qualified in self.urls:
            parts = qualified.split("::")
            for i in range(len(parts) - 1):
                self.suffixes.setdefault("::".join(parts[i:]), []).append(qualified)
            if qualified.startswith("kgen::") and re.match(r"k[A-Z]", parts[-1]):
                self.constants.setdefault(parts[-1], []).append(qualified)
        for qualified in table["free"]:
            if qualified in self.urls:
                self.free.setdefault(qualified.rpartition("::")[2], []).append(qualified)

    def choose(self, candidates, page):
        """The one on the page itself, or else the one of kgen, or else the only one."""
        here = [name for name in candidates if self.urls[name].startswith(f"{page}#")]
        own = [name for name in candidates if name.startswith("kgen::")]
        for group in (here, own, candidates):
            if len(group) == 1:
                return self.urls[group[0]]
        return None

    def of_text(self, text, page):
        """The URL for code in a sentence."""
        if text in self.headers:
            return self.headers[text]
        if f"kgen/{text}" in self.headers and "/" in text:
            return self.headers[f"kgen/{text}"]
        name = re.sub(r"<.*>|\(.*\)$", "", text).lstrip(":")
        if not re.fullmatch(r"(?:\w+::)*~?\w+", name):
            return None
        if "::" in name:
            return self.choose(self.suffixes.get(name, []), page)
        if re.match(r"[A-Z]\w", name):
            return self.choose(self.free.get(name, []), page)
        if re.match(r"k[A-Z]", name):
            return self.choose(self.constants.get(name, []), page)
        return None

    def of_type(self, name, page):
        """The URL for an identifier in a block of code."""
        return self.choose(self.free.get(name, []), page) if re.match(r"[A-Z]\w\w", name) else None


CODE = re.compile(r'<code class="[^"]*literal notranslate">(.*?)</code>', re.S)
BLOCK = re.compile(r'(<div class="highlight-cpp.*?<pre>)(.*?)(</pre>)', re.S)
SPAN = re.compile(
    r'(?:<span class="(?:n|nc|nf|nn)">(?P<scope>\w+)</span>)?(?P<before><span class="(?:o|p)">[^<]*</span>)?'
    r'<span class="(?P<kind>n|nc|nf)">(?P<name>\w+)</span>(?P<call>(?=<span class="p">\())?'
)
WORD = re.compile(r"\b[A-Z]\w{2,}(?!\w|\()")


def link_names(text, page, names):
    """The HTML of a page with links from code."""

    def link(url, inner):
        target = os.path.relpath(url, os.path.dirname(page) or ".")
        if url.startswith(f"{page}#"):
            target = url[len(page) :]
        return f'<a class="api" href="{target}">{inner}</a>'

    def sentence(match):
        plain = html.unescape(re.sub(r"<[^>]*>", "", match[1]))
        before = text[max(0, match.start() - 400) : match.start()]
        if before.rfind("<a ") > before.rfind("</a>") or re.search(r"<h\d[^>]*>[^\n]*$", before):
            return match[0]
        url = names.of_text(plain, page)
        if url:
            return link(url, match[0])
        if "<dt>" in before[-300:] and before.rfind("<dt>") > before.rfind("</dt>"):  # a field: link its type
            def word(found):
                target = names.of_type(found[0], page)
                return link(target, found[0]) if target else found[0]

            inner = re.sub(r">([^<]+)<", lambda part: f">{WORD.sub(word, part[1])}<", f">{match[1]}<")[1:-1]
            return match[0].replace(match[1], inner)
        return match[0]

    def block(match):
        def span(found):
            before = html.unescape(re.sub("<[^>]*>", "", found["before"] or ""))
            url = names.of_type(found["name"], page)
            is_member = before.endswith((".", "->"))
            # A function that is declared here may have the name of a type: Pages, Patch, Watch.
            is_function = found["call"] is not None and before != "::"
            if not url or found["kind"] == "nc" or is_member or is_function:
                return found[0]
            if before == "::" and found["scope"] and not re.search(rf"[.#]{found['scope']}\.|/{found['scope']}/", url):
                return found[0]  # acme::Clientset is not k8s::Clientset
            name = f'<span class="{found["kind"]}">{found["name"]}</span>'
            return found[0].removesuffix(name) + link(url, name)

        return match[1] + SPAN.sub(span, match[2]) + match[3]

    return BLOCK.sub(block, CODE.sub(sentence, text))


DARK = re.compile(r"(body\[data-theme=\"dark\"\][^{}]*)(\{[^{}]*\})")
IMPORT = re.compile(r"""^import \w+ from ["']\./([\w.-]+)["'];$""", re.M)


def dark_by_default(text):
    """The style sheet with its dark rules also for readers whose system is dark. The theme has them within another
    condition, and the compiler of Debian's package drops such rules."""
    if "prefers-color-scheme" in text:
        return text
    rules = [
        selectors.replace('body[data-theme="dark"]', 'body:not([data-theme="light"])') + block
        for selectors, block in DARK.findall(text)
        if ".theme-toggle" not in selectors
    ]
    return text + "@media screen and (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}\n" if rules else text


def without_imports(path, text):
    """The script with the ones that it imports in it, as upstream's build does and Debian's package does not. A browser
    runs imports only in modules, and loads no modules from files."""
    return IMPORT.sub(lambda match: (path.parent / match[1]).read_text(encoding="utf-8"), text)


def take_from_debian(site):
    """Copies what a style sheet of a Debian package imports from Debian's web server, such as normalize.css, and mends
    what the package breaks."""
    for path in site.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        path.write_text(without_imports(path, text), encoding="utf-8")
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"url\(/javascript/([^)]*)\)", text):
            shutil.copy(f"/usr/share/javascript/{name}", path.parent / os.path.basename(name))
            text = text.replace(f"url(/javascript/{name})", f"url({os.path.basename(name)})")
        path.write_text(dark_by_default(text), encoding="utf-8")


def breakable_titles(text):
    """The HTML of a page whose titles, such as paths of headers, may break behind a slash or an underscore."""
    return re.sub(r"<h1>[^<]*", lambda title: re.sub(r"(?<=\w)([/_])(?=\w)", r"\1<wbr>", title[0]), text)


def main(arguments):
    command, site = arguments[0], pathlib.Path(arguments[1])
    if command == "finish":
        take_from_debian(site)
        names = Names(json.loads(pathlib.Path(arguments[2]).read_text()))
        for path in site.rglob("*.html"):
            page = str(path.relative_to(site))
            text = path.read_text(encoding="utf-8")
            new = breakable_titles(link_names(text, page, names))
            if new != text:
                path.write_text(new, encoding="utf-8")
        return 0
    findings = list(check(site))
    for path, line, text in findings:
        print(f"{path}:{line}: {text}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
