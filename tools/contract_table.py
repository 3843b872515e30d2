#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Writes the tests into the tables of tests/contract-coverage.md: contract_table.py [--check] [ROOT].

A test names the items that it holds in one comment line directly above it:

    // Contract: informer CT-06, CT-07; design D13.
    TEST(Informer, LetsTheStoreDecide...) {

Each contract has a section in the document, headed by its name, with one table `| item | meaning | tests |`. This script
owns the last column: it replaces the column, adds a row for an item that the table does not know yet, and leaves all
other text alone. With --check it writes nothing and fails when the document is not up to date, has an item without a
meaning, or names a test that does not exist.
"""

import os
import re
import sys

from lint.text_rules import Tree

DOCUMENT = "tests/contract-coverage.md"
HEADER = "| item | meaning | tests |"
COMMENT = re.compile(r"^// Contract: (.*)\.$")
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.MULTILINE)
ITEM = re.compile(r"(?:[A-Z][A-Z0-9]*-)?[A-Z]?\d+$")


class Fault(Exception):
    """Where and what is wrong with a comment or with the document."""


def parse_items(text, place):
    """`informer CT-06, CT-07; design D13` as (contract, item) pairs."""
    for group in text.split("; "):
        contract, _, items = group.partition(" ")
        for item in items.split(", "):
            if not contract.isalpha() or not ITEM.match(item):
                raise Fault(f"{place}: '{group}' is not a contract's name and its items, such as: informer CT-06, CT-07")
            yield contract, item


def read_tests(tree):
    """contract -> item -> [test], tests in the order of files and lines."""
    held = {}
    for name in tree.under("tests/", suffixes=(".cc",)):
        lines = tree.lines(name)
        for number, line in enumerate(lines, 1):
            if not line.startswith("// Contract:"):
                continue
            comment = COMMENT.match(line)
            test = TEST.match("\n".join(lines[number : number + 2]))  # the formatter may break a long one
            if not comment or not test:
                raise Fault(f"{name}:{number}: a contract comment is one line, ends with a period, right above a test")
            for contract, item in parse_items(comment.group(1), f"{name}:{number}"):
                tests = held.setdefault(contract, {}).setdefault(item, [])
                tests.append(f"`{test.group(1)}.{test.group(2)}`")
    return held


def sort_key(item):
    letters, digits = re.match(r"(.*?)(\d+)$", item).groups()
    return letters, int(digits)


def rewrite_table(rows, first, held):
    """The rows of one table, which begin at line `first`, with the tests that hold each item."""
    meanings = {}
    for number, row in enumerate(rows, first):
        item, meaning = [cell.strip() for cell in row.strip("|").split("|")][:2]
        if item not in held:
            raise Fault(f"{DOCUMENT}:{number}: no test names {item}; add one, or take the row out and say why")
        meanings[item] = meaning
    order = list(meanings)
    for item in sorted(set(held) - set(order), key=sort_key):  # after the last item that sorts before it
        before = [place for place, other in enumerate(order) if sort_key(other) < sort_key(item)]
        order.insert(before[-1] + 1 if before else 0, item)
    return [f"| {item} | {meanings.get(item, '')} | {', '.join(held[item])} |" for item in order]


def rewrite(lines, held):
    """The document with up-to-date tables."""
    result, contract, written = [], None, set()
    position = 0
    while position < len(lines):
        line = lines[position]
        result.append(line)
        position += 1
        if line.startswith("## "):
            contract = line[3:].lower().split()[0]
        if line != HEADER:
            continue
        if contract in written:
            raise Fault(f"{DOCUMENT}:{position}: a second table of tests under one heading")
        written.add(contract)
        result.append(lines[position])
        position += 1
        end = position
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        result += rewrite_table(lines[position:end], position + 1, held.get(contract, {}))
        position = end
    missing = sorted(set(held) - written)
    if missing:
        raise Fault(f"{DOCUMENT}: no heading '## {missing[0]}' with a table '{HEADER}'")
    return result


def check(tree, before, after):
    if after != before:
        raise Fault(f"{DOCUMENT}:1: does not list the tests that the comments name; run ./dev contracts")
    tests = {
        ".".join(test)
        for name in tree.under("tests/", suffixes=(".cc",))
        for test in TEST.findall("\n".join(tree.lines(name)))
    }
    for number, line in enumerate(before, 1):
        if re.match(r"\| \S+ \|  \| ", line):
            raise Fault(f"{DOCUMENT}:{number}: an item without a meaning; say in a few words what it promises")
        for test in re.findall(r"`([A-Z]\w*\.[A-Z]\w*)`", line):
            if test not in tests:
                raise Fault(f"{DOCUMENT}:{number}: there is no test {test}")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    tree = Tree(arguments[0] if arguments else ".")
    try:
        before = tree.lines(DOCUMENT)
        after = rewrite(before, read_tests(tree))
        if "--check" in sys.argv:
            check(tree, before, after)
    except Fault as fault:
        print(fault)
        sys.exit(1)
    if after != before:
        with open(os.path.join(tree.root, DOCUMENT), "w", encoding="utf-8") as file:
            file.write("\n".join(after) + "\n")


if __name__ == "__main__":
    main()
