#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Counts lines and characters of the controllers in this folder, for the table of docs/comparison.md.

usage: lines.py            prints the rows of the table
       lines.py --check    fails if docs/comparison.md has other rows

Blank lines, comment lines and white space do not count. Imports (import, use, #include, using) are counted apart.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parents[2] / "docs" / "comparison.md"
PROGRAMS = {
    "client-go": "client_go/main.go",
    "controller-runtime": "controller_runtime/main.go",
    "kube-rs": "kube_rs/src/main.rs",
    "kgen, informers": "kgen_informers/main.cc",
    "kgen, Manager": "kgen_manager/main.cc",
}
IMPORTS = re.compile(r'import \(.*?^\)|^use [^;]*;|^#include .*?$|^using [^;]*;', re.MULTILINE | re.DOTALL)


def code(text):
    """The lines with code, without white space."""
    lines = ("".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("//")]


def row(name, path):
    text = (HERE / path).read_text()
    lines = code(IMPORTS.sub("", text))
    characters, imports = sum(map(len, lines)), len(code(text)) - len(lines)
    return f"| [{name}](../tests/integration/comparison/{path}) | {len(lines)} | {characters} | {imports} |"


def main():
    rows = [row(name, path) for name, path in PROGRAMS.items()]
    if sys.argv[1:] != ["--check"]:
        print("\n".join(rows))
        return 0
    document = DOCUMENT.read_text().splitlines()
    wrong = [line for line in rows if line not in document]
    for line in wrong:
        print(f"docs/comparison.md lacks this row; run tests/integration/comparison/lines.py: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
