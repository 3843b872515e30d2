#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Prints the test binaries of a build tree that have tests matching a filter, one per line.

usage: test_targets.py TREE FILTER

FILTER is the name of a binary (cache_test), a part of a test's name, or a GoogleTest pattern. Tests are found by their
macros in the sources; names that exist only at run time, such as those of parameters, are not found. Prints nothing if
no binary matches.
"""

import fnmatch
import pathlib
import re
import sys

from compile_commands import entries

TEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
TARGET = re.compile(r"CMakeFiles/(\w+)\.dir/")


def patterns(filter_text):
    """Yields the patterns of a filter's positive part, without the parts that name an instantiation or a parameter."""
    positive = filter_text.split("-", 1)[0] if re.search(r"[*:]", filter_text) else f"*{filter_text}*"
    for pattern in positive.split(":"):
        parts = pattern.split("/")
        holder = next((part for part in parts if "." in part), parts[0])
        yield holder
        if holder.endswith("*") and "." not in holder:
            yield holder + ".*"


def main():
    tree, filter_text = pathlib.Path(sys.argv[1]), sys.argv[2]
    wanted = list(patterns(filter_text))
    found = set()
    for entry in entries(tree):
        target = TARGET.search(entry["command"])
        if target is None or not target[1].endswith("_test"):
            continue
        if target[1] == filter_text:
            found.add(target[1])
        if target[1] in found or not entry["file"].endswith("_test.cc"):
            continue
        names = (f"{suite}.{name}" for suite, name in TEST.findall(pathlib.Path(entry["file"]).read_text()))
        if any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in wanted):
            found.add(target[1])
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    main()
