#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Finds sources that lack an include because a header has lost one: alone.py list|compile ROOT ...

    alone.py list ROOT BASE                   prints the sources that the next command should compile
    alone.py compile ROOT DATABASE SOURCE...  compiles each source alone, without producing code

The trees compile several sources of a target as one, so a source may get an include from its neighbour. The rule `tidy`
compiles each source alone that has changed. What is left are the sources that reach a header in which an include was
removed since BASE. Headers that are generated in the build are not followed.
"""

import collections
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

from text_rules import INCLUDE, Tree

# The folders whose sources are joined.
JOINED = ("generator/", "runtime/src/", "tests/")
FOLDERS = ("", "runtime/include/", "runtime/src/", "generated/")  # of the include paths


def headers_with_a_lost_include(root, base):
    """The headers with an include less than in BASE; an include that moved within a header is not lost."""
    command = ["git", "-C", root, "diff", "-U0", "--no-renames", base, "--", "*.h"]
    header, changes = None, collections.defaultdict(collections.Counter)
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        if line.startswith("+++ "):
            header = line.removeprefix("+++ b/")
        elif match := INCLUDE.match(line[1:]):
            changes[header][match.group(2)] += 1 if line[0] == "+" else -1
    return {header for header, paths in changes.items() if min(paths.values()) < 0}


def list_sources(root, base):
    tree = Tree(root)
    files = set(tree.files)
    users = collections.defaultdict(set)
    for name in tree.under(""):
        for _, _, path in tree.includes(name):
            for folder in (*FOLDERS, os.path.dirname(name) + "/"):
                if folder + path in files:
                    users[folder + path].add(name)
    todo, reached = list(headers_with_a_lost_include(root, base)), set()
    while todo:
        for name in users[todo.pop()] - reached:
            reached.add(name)
            todo.append(name)
    for name in sorted(reached):
        if name.endswith(".cc") and name.startswith(JOINED):
            print(name)


def compile_alone(root, entry):
    """The compiler's first errors, or nothing."""
    command = [*shlex.split(entry["command"]), "-fsyntax-only", "-w"]
    done = subprocess.run(command, cwd=entry["directory"], check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if "error:" in line] or [done.stderr]
    file = os.path.relpath(entry["file"], root)
    return f"{file}:1: does not compile alone; it lacks an include\n" + "\n".join(errors[:4])


def main():
    mode, root = sys.argv[1], os.path.abspath(sys.argv[2])
    if mode == "list":
        return list_sources(root, sys.argv[3])
    with open(sys.argv[3], encoding="utf-8") as file:
        entries = {os.path.relpath(os.path.join(e["directory"], e["file"]), root): e for e in json.load(file)}
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("KGEN_JOBS", os.cpu_count()))) as pool:
        found = pool.map(lambda name: compile_alone(root, entries[name]), [n for n in sys.argv[4:] if n in entries])
        found = [text for text in found if text]
    for text in found:
        print(text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
