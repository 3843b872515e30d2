#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Shows what ./dev docs refuses, each in a small checkout or site. Writes the cases to the file that GTEST_OUTPUT
names, in gtest's form, so that they count."""

import os
import pathlib
import sys
import tempfile
import unittest
import xml.sax.saxutils

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/docs"))

import comments  # noqa: E402
import link  # noqa: E402
import pages  # noqa: E402

try:
    import stage
except ImportError:  # no libclang: not a Debian system with the packages of ./dev setup
    stage = None


class Docs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def file(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def header(self, text):
        self.file("runtime/include/kgen/core/a.h", f"// Copyright The kgen Authors.\n//\n// A header.\n{text}\n")


class Pages(Docs):
    def findings(self):
        return [f"{path}:{line}: {text}" for path, line, text in pages.Pages(self.root).findings]

    def test_ALinkToAPageThatDoesNotExistIsRefused(self):
        self.file("docs/a.md", "# A\n\n[b](b.md) and\n[c](../c/)\n")
        self.assertEqual(
            self.findings(),
            ["docs/a.md:3: dead link: b.md; there is no docs/b.md", "docs/a.md:4: dead link: ../c/; there is no c"],
        )

    def test_ALinkToAHeadingThatDoesNotExistIsRefused(self):
        self.file("docs/a.md", "# A\n\n[here](#one) [there](b.md#two)\n")
        self.file("docs/b.md", "# B\n\n```\n## Two\n```\n")
        self.assertEqual(len(self.findings()), 2)
        reason = "docs/b.md has no heading with the anchor #two"
        self.assertIn(f"docs/a.md:3: dead link: b.md#two; {reason}", self.findings())

    def test_AnImageThatDoesNotExistOrIsOnAnotherHostIsRefused(self):
        self.file("README.md", '![x](docs/x.svg)\n\n<img src="https://example.com/y.svg">\n')
        self.assertIn("README.md:1: dead link: docs/x.svg; there is no docs/x.svg", self.findings())
        self.assertIn("README.md:3: the image https://example.com/y.svg is on another host", self.findings()[1])

    def test_LinksInCodeAreNotLinks(self):
        self.file("docs/a.md", "# A\n\n`[b](b.md)`\n\n```\n[c](c.md)\n```\n<!-- [d](d.md) -->\n")
        self.assertEqual(self.findings(), [])

    def test_AnchorsAreMadeAsGitHubMakesThem(self):
        self.file("docs/a.md", "# A\n\n## What `Run()` does, and why\n\n## Again\n\n## Again\n\n")
        text = "[1](a.md#what-run-does-and-why) [2](a.md#again-1)"
        self.file("docs/b.md", f"# B\n\n{text}\n")
        self.assertEqual(self.findings(), [])

    def test_ALinkToASourceFileLeadsToAPageWithItsText(self):
        self.file("README.md", "[main](examples/main.cc)\n")
        self.file("examples/main.cc", "int main() {}\n")
        site = pages.Pages(self.root)
        self.assertEqual(site.staged["README.md"], "[main](source/examples/main.cc.md)\n")
        self.assertEqual(site.source_page("examples/main.cc"), "# examples/main.cc\n\n```cpp\nint main() {}\n```\n")

    def test_ALinkToAFolderLeadsToItsReadmeOrToAListOfItsFiles(self):
        self.file("docs/a.md", "[one](../one) [two](../two/)\n")
        self.file("one/README.md", "# One\n")
        self.file("two/x.yaml", "x: 1\n")
        site = pages.Pages(self.root)
        self.assertEqual(site.staged["docs/a.md"], "[one](../one/README.md) [two](../source/two/index.md)\n")
        self.assertEqual(site.folder_page("two"), "# two/\n\n* [x.yaml](x.yaml.md)\n")

    def test_ALinkToAPublicHeaderLeadsToTheReference(self):
        self.file("README.md", "[a](runtime/include/kgen/core/a.h)\n")
        self.file("runtime/include/kgen/core/a.h")
        site = pages.Pages(self.root, ["api/kgen/core/a"])
        self.assertEqual(site.staged["README.md"], "[a](api/kgen/core/a.md)\n")


@unittest.skipIf(stage is None, "no libclang for /usr/bin/python3")
class Headers(Docs):
    def site(self, text):
        self.header(text)
        return stage.Site(self.root)

    def undocumented(self, text):
        return [f"{path}:{line}: {text}" for path, line, text in self.site(text).findings()]

    def test_APublicNameWithoutACommentIsRefused(self):
        text = "namespace kgen {\nstruct A {\n  int b = 0;  // What it is.\n  int c = 0;\n\n  int d = 0;\n};\n}"
        found = self.undocumented(text)
        start = "runtime/include/kgen/core/a.h"
        end = "has no comment; say what it is, above it or behind it"
        self.assertEqual(found, [f"{start}:5: kgen::A {end}", f"{start}:9: kgen::A::d {end}"])

    def test_ACommentCoversWhatStandsRightBelowIt(self):
        self.assertEqual(self.undocumented("namespace kgen {\n// Two functions.\nint F();\nint G();\n}"), [])

    def test_ACommentOfAClassCoversTheMembersThatItNames(self):
        text = "namespace kgen {\n// Has `b` and c().\nstruct A {\n  int b;\n\n  int c();\n};\n}"
        self.assertEqual(self.undocumented(text), [])

    def test_SpecialMembersOverridesAndOperatorsNeedNoComment(self):
        text = """namespace kgen {
// A base.
struct A {
  A() = default;
  A(const A&);

  virtual ~A();
  // Does it.
  virtual void F();
};

// Derived.
struct B : A {
  void F() override;

  bool operator==(const B&) const;
};
}"""
        self.assertEqual(self.undocumented(text), [])

    def test_InternalNamespacesAndPrivateMembersDoNotAppear(self):
        text = """namespace kgen {
namespace detail { struct Hidden { int x; }; }
namespace controller { struct State { int x; }; }
// Public.
class A {
 public:
  // Shown.
  int Shown();

 private:
  int Secret();
};
}"""
        site = self.site(text)
        self.assertEqual(site.findings(), [])
        page = "\n".join(site.writer.pages["api/kgen/core/a"][2])
        self.assertIn("Shown", page)
        for name in ("Hidden", "State", "Secret"):
            self.assertNotIn(name, page)

    def test_AListedNameIsTolerated(self):
        self.file(stage.TOLERATED, "# Comment.\nkgen::A\n")
        self.assertEqual(self.undocumented("namespace kgen {\nstruct A {};\n}"), [])

    def test_AListedNameThatHasACommentIsRefused(self):
        self.file(stage.TOLERATED, "# Comment.\nkgen::A\n")
        found = self.undocumented("namespace kgen {\n// A.\nstruct A {};\n}")
        self.assertEqual(found, [f"{stage.TOLERATED}:2: kgen::A has a comment, or is gone; remove the line"])

    def test_ADeclarationIsShownAsItIsWritten(self):
        text = """namespace kgen {
// A template.
template <typename T>
struct A {
  // Returns it.
  [[nodiscard]] T Get(int n = 3) const
    requires(sizeof(T) > 4)
  {
    return T{};
  }
};
}"""
        page = "\n".join(self.site(text).writer.pages["api/kgen/core/a"][2])
        self.assertIn("[[nodiscard]] T Get(int n = 3) const\n  requires(sizeof(T) > 4);", page)
        self.assertNotIn("return", page)


class Comments(unittest.TestCase):
    def markdown(self, text):
        return comments.markdown([f" {line}" if line else "" for line in text.split("\n")], {"ObjectKey"})

    def test_CodeInASentenceIsMarked(self):
        self.assertEqual(
            self.markdown("Calls Run() with ObjectKey, kNoLimit and Config::timeout; a*b."),
            r"Calls `Run()` with `ObjectKey`, `kNoLimit` and `Config::timeout`; a\*b.",
        )

    def test_ALabelBeginsAParagraph(self):
        self.assertEqual(self.markdown("Does it.\nBlocking: never."), "Does it.\n\n**Blocking:** never.")

    def test_CodesAndCausesAreAList(self):
        text = "Errors: kConfig   a file is\n                  unreadable\n        kTimeout  too late"
        rows = "* `kConfig`: a file is unreadable\n* `kTimeout`: too late"
        self.assertEqual(self.markdown(text), f"**Errors:**\n\n{rows}")

    def test_AnIndentedParagraphIsCode(self):
        self.assertEqual(self.markdown("Use it:\n\n  int x = F();"), "Use it:\n\n```cpp\nint x = F();\n```")


class Site(Docs):
    def findings(self):
        return [f"{path}:{line}: {text}" for path, line, text in link.check(self.root)]

    def test_ADeadLinkOrAnchorIsRefused(self):
        self.file("a.html", '<a href="b.html">b</a>\n<a href="c.html#x">c</a>\n<a href="c.html#y">c</a>')
        self.file("c.html", '<p id="y">')
        self.assertEqual(
            self.findings(),
            ["a.html:1: dead link: b.html", "a.html:2: dead link: c.html#x; the page has no such anchor"],
        )

    def test_APageToWhichNoLinkLeadsIsRefused(self):
        self.file("index.html", '<a href="docs/a.html#x">a</a>')
        self.file("docs/a.html", '<a id="x" href="../index.html">back</a>')
        self.file("docs/b.html", '<a href="a.html">a</a>')
        self.assertEqual(self.findings(), ["docs/b.html:1: no link leads to this page"])

    def test_AFontOfAnotherHostIsRefused(self):
        self.file("_static/a.css", "@font-face { src: url('https://fonts.example/a.woff2'); }")
        self.file("a.html", '<style>@import "//fonts.example/b.css";</style>')
        self.assertEqual(
            self.findings(),
            [
                "a.html:1: loads //fonts.example/b.css from another host",
                "_static/a.css:1: loads https://fonts.example/a.woff2 from another host",
            ],
        )

    def test_AScriptStyleOrImageOfAnotherHostIsRefused(self):
        self.file(
            "a.html",
            '<script src="https://x.example/a.js"></script><link rel="stylesheet" href="http://x.example/a.css">'
            '<img src="//x.example/a.png"><a href="https://x.example/">a link is fine</a>',
        )
        self.assertEqual(len(self.findings()), 3)

    def test_AStyleSheetThatNeedsAFileOutsideOfTheSiteIsRefused(self):
        self.file("_static/a.css", "@import url(/javascript/b.css);\na { background: url(data:image/png;base64,AA); }")
        self.assertEqual(self.findings(), ["_static/a.css:1: dead link: /javascript/b.css"])

    def test_AScriptThatImportsAnotherOneIsRefusedAndFinishedWithIt(self):
        self.file("_static/a.js", 'import B from "./b.js";\nnew B();\n')
        self.file("_static/b.js", "window.B = class {};\n")
        reason = "imports b.js, which no browser does from a file"
        self.assertEqual(self.findings(), [f"_static/a.js:1: {reason}"])
        link.take_from_debian(self.root)
        self.assertEqual(self.findings(), [])
        self.assertEqual((self.root / "_static/a.js").read_text(), "window.B = class {};\n\nnew B();\n")

    def test_DarkColorsHoldForReadersWhoseSystemIsDark(self):
        dark = 'body[data-theme="dark"]'
        text = f"@media not print {{ {dark} {{ --c: #fff; }} {dark} .theme-toggle svg {{ display: block; }} }}"
        self.file("_static/a.css", text)
        link.take_from_debian(self.root)
        system = '@media screen and (prefers-color-scheme: dark) {\nbody:not([data-theme="light"]) { --c: #fff; }\n}\n'
        self.assertEqual((self.root / "_static/a.css").read_text(), text + system)

    def test_ALongTitleMayBreakBehindASlashOrAnUnderscore(self):
        title = '<title>a/b</title><h1>kgen/rest_mapper.h<a class="headerlink" href="#a/b">#</a></h1>'
        broken = title.replace("kgen/rest_mapper.h", "kgen/<wbr>rest_<wbr>mapper.h")
        self.assertEqual(link.breakable_titles(title), broken)

    def test_CodeLeadsToTheReference(self):
        names = link.Names(
            {
                "headers": {"kgen/core/a.h": "api/a.html"},
                "names": {
                    "kgen::A": "api/a.html#kgen.A",
                    "kgen::A::Run": "api/a.html#kgen.A.Run",
                    "k8s::A": "k.html#k8s.A",
                },
                "free": ["kgen::A", "k8s::A"],
            }
        )
        code = '<code class="docutils literal notranslate"><span class="pre">{}</span></code>'
        for text, url in (
            ("A::Run()", "../api/a.html#kgen.A.Run"),
            ("kgen::A", "../api/a.html#kgen.A"),
            ("kgen/core/a.h", "../api/a.html"),
        ):
            inner = code.format(text)
            self.assertEqual(
                link.link_names(inner, "docs/x.html", names), f'<a class="api" href="{url}">{inner}</a>', text
            )
        self.assertEqual(link.link_names(code.format("Run"), "docs/x.html", names), code.format("Run"))


class Result(unittest.TextTestResult):
    """Collects the cases in gtest's form."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.lines = []

    def case(self, test, inner, result="completed"):
        name = test.id().rpartition("test_")[2]
        start = f'<testcase name="{name}" status="run" result="{result}" classname="Docs{type(test).__name__}">'
        self.lines.append(f"{start}{inner}</testcase>\n")

    def addSuccess(self, test):
        super().addSuccess(test)
        self.case(test, "")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.case(test, "\n<failure/>\n")

    def addError(self, test, error):
        super().addError(test, error)
        self.case(test, "\n<failure/>\n")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.case(test, f"\n<skipped message={xml.sax.saxutils.quoteattr(reason)}/>\n", "skipped")


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    outcome = unittest.TextTestRunner(resultclass=Result).run(suite)
    output = os.environ.get("GTEST_OUTPUT", "").removeprefix("xml:")
    if output:
        pathlib.Path(output).write_text("".join(outcome.lines), encoding="utf-8")
    sys.exit(not outcome.wasSuccessful())
