#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Keeps the pages in docs/ true to the sources: pages.py [--check] [ROOT].

A page has three sorts of marks, each a comment that readers do not see:

    <!-- listing: docs/start/programs/watcher/main.cc -->      the block of code below is this file,
    <!-- listing: tests/docs/guides/indexes_test.cc add -->    or its lines between `// begin add` and `// end add`
    <!-- table: metrics --> ... <!-- end -->                   what tools/page_tables.py makes of the sources
    <!-- says: the address of | is taken -->                   each of these texts is in the block above, and in a
                                                               string of the sources

The script replaces listings and tables. With --check it writes nothing and fails where a page is not up to date, where
a text is in no source, where a program in docs/start or docs/guides is no listing, and where a table with the column
`kgen` in docs/migrate has a name that no header, build file or command has.
"""

import os
import re
import sys

import page_tables
from lint.text_rules import COPYRIGHT, Tree

LANGUAGE = {".cc": "cpp", ".h": "cpp", ".yaml": "yaml", ".cmake": "cmake", "CMakeLists.txt": "cmake", ".sh": "sh",
            "Containerfile": "dockerfile"}
MARK = re.compile(r"^<!-- (listing|table|says): (.*?) -->$")
PART = re.compile(r"^\s*(?://|#) (begin|end) (\w+)$")
PROGRAM = re.compile(r"^```(cpp|cmake|dockerfile)$")  # what somebody could copy and build


class Fault(Exception):
    """Where and what is wrong with a page."""


def listing(tree, place, name, part):
    """The lines of a file, or of a part of it, without its copyright, marks and common indent."""
    if name not in tree.files:
        raise Fault(f"{place}: no such file: {name}")
    lines, inside, found = [], set(), set()
    for line in tree.lines(name):
        mark = PART.match(line)
        if mark:
            (inside.add if mark.group(1) == "begin" else inside.discard)(mark.group(2))
            found.add(mark.group(2))
        elif COPYRIGHT not in line and (not part or part in inside):
            lines.append(line)
    if part and part not in found:
        raise Fault(f"{place}: {name} has no line '// begin {part}'")
    while lines and lines[0].strip() in ("", "//", "#"):
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    language = next((LANGUAGE[end] for end in LANGUAGE if name.endswith(end)), "")
    return [f"```{language}", *(line[indent:] for line in lines), "```"]


def end_of_block(lines, start, place):
    """The index behind the block of code that begins at `start`; `start` itself if there is none."""
    if start >= len(lines) or not lines[start].startswith("```"):
        return start
    for index in range(start + 1, len(lines)):
        if lines[index] == "```":
            return index + 1
    raise Fault(f"{place}: a block of code has no end")


def rewrite(tree, page, lines):
    result, position = [], 0
    while position < len(lines):
        line, place = lines[position], f"{page}:{position + 1}"
        mark = MARK.match(line)
        position += 1
        result.append(line)
        if mark and mark.group(1) == "listing":
            name, _, part = mark.group(2).partition(" ")
            result += listing(tree, place, name, part)
            position = end_of_block(lines, position, place)
        elif mark and mark.group(1) == "table":
            if mark.group(2) not in page_tables.TABLES:
                raise Fault(f"{place}: no such table; there are {', '.join(page_tables.TABLES)}")
            result += ["", *page_tables.TABLES[mark.group(2)](tree), ""]
            try:
                position = lines.index("<!-- end -->", position)
            except ValueError:
                raise Fault(f"{place}: the table has no '<!-- end -->'") from None
        elif line.startswith("```"):
            end = end_of_block(lines, position - 1, place)
            if PROGRAM.match(line) and page.startswith(("docs/start/", "docs/guides/")):
                raise Fault(f"{place}: a program that nothing compiles; make it a listing of a file")
            result += lines[position:end]
            position = end
    return result


def strings_of(tree):
    """What all string literals say, in the runtime, the generator and the commands; adjacent ones are joined."""
    texts = []
    for name in tree.under("runtime/", "generator/", "cmake/", "tools/dev/", suffixes=(".cc", ".h", ".cmake", ".sh")):
        text = "\n".join(tree.lines(name))
        texts.append(re.sub(r'"\s*\n\s*(?:R?")', "", text).replace('\\"', '"'))
    return "\n".join(texts)


def unsaid(lines, page, strings):
    """Findings for the marks `says`."""
    block, inside = [], False
    for number, line in enumerate(lines, 1):
        mark = MARK.match(line)
        if line.startswith("```"):
            inside = not inside
            block = [] if inside else block
        elif inside:
            block.append(line)
        elif mark and mark.group(1) == "says":
            shown = " ".join(" ".join(block).split())
            for text in mark.group(2).split(" | "):
                if text not in shown:
                    yield f"{page}:{number}: the block above does not say '{text}'"
                if text not in strings:
                    yield f"{page}:{number}: no source says '{text}'"


def unknown_names(tree, lines, page, words):
    """Findings for names in the column `kgen` of tables in docs/migrate/."""
    column = None
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] if line.startswith("|") else []
        if not cells:
            column = None
        elif column is None:
            column = cells.index("kgen") if "kgen" in cells else -1
        elif column >= 0 and column < len(cells):
            for span in re.findall(r"`([^`]+)`", cells[column]):
                code = re.sub(r'"[^"]*"', "", span)
                for name in re.findall(r"\b[A-Za-z_]\w{2,}", code):
                    if name not in words:
                        yield f"{page}:{number}: nothing in kgen is called {name}"


# Names of variables and of a user's own types in the examples of tables.
OF_USERS = set(
    "auto const void return order orders deployment config options stop function manager client request factory pods pod "
    "map Order acme error queue key name info lister informer std true false cluster".split()
)


def words_of(tree):
    """Every word of public headers, generated headers, build files and commands."""
    words = set(OF_USERS)
    generated = ("generated/k8s/core/v1/", "generated/k8s/clientset.h", "generated/k8s/informers.h")
    names = tree.under("runtime/include/", *generated, suffixes=(".h",))
    names += tree.under("cmake/", suffixes=(".cmake", ".in")) + tree.under("dev", suffixes=("dev",))
    names += tree.under("generator/commands/", "generator/crd/", suffixes=(".cc", ".h"))
    for name in names:
        words.update(re.findall(r"\w+", "\n".join(tree.lines(name))))
    return words


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    check = "--check" in sys.argv
    tree = Tree(arguments[0] if arguments else ".")
    pages = tree.under("docs/", "README.md", suffixes=(".md",))
    strings = words = None
    findings = []
    for page in pages:
        before = tree.lines(page)
        try:
            after = rewrite(tree, page, before)
        except Fault as fault:
            findings.append(str(fault))
            continue
        if after != before and check:
            line = next((i for i, (a, b) in enumerate(zip(before, after), 1) if a != b), len(before))
            findings.append(f"{page}:{line}: is not what the sources say; run ./dev pages")
        elif after != before:
            with open(os.path.join(tree.root, page), "w", encoding="utf-8") as file:
                file.write("\n".join(after) + "\n")
        if any("<!-- says:" in line for line in after):
            strings = strings or strings_of(tree)
            findings += unsaid(after, page, strings)
        if page.startswith("docs/migrate/"):
            words = words or words_of(tree)
            findings += unknown_names(tree, after, page, words)
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
