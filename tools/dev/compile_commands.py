#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Prints a compilation database with an entry for each source of a build tree that joins sources (cmake/KgenJoin.cmake).

usage: compile_commands.py TREE

A joined source has the flags and the object file of the file that includes it.
"""

import json
import pathlib
import re
import sys

INCLUDE = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)


def entries(tree):
    """Yields the entries of the tree's database, with those of joined files replaced."""
    root = pathlib.Path(__file__).resolve().parents[2]
    for entry in json.loads((pathlib.Path(tree) / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if file.parent.name != "joined":
            yield entry
            continue
        for included in INCLUDE.findall(file.read_text()):
            source = str(root / included)
            yield entry | {"file": source, "command": entry["command"].replace(f"-c {file}", f"-c {source}")}


if __name__ == "__main__":
    json.dump(list(entries(sys.argv[1])), sys.stdout, indent=1)
