#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Counts lines and characters of the programs in this folder, for the tables of docs/comparison.md.

Prints the rows of the tables. With --check, fails if docs/comparison.md has other rows. Only with --generated, the rows
about what controller-gen makes are among them; `./dev integration` makes that DIR.

Blank lines, comment lines and white space do not count. Imports (import, use, #include, using) are counted apart.
"""

import argparse
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DOCUMENT = ROOT / "docs" / "comparison.md"
PROGRAMS = {
    "client-go": "client_go/main.go",
    "controller-runtime": "controller_runtime/main.go",
    "kube-rs": "kube_rs/src/main.rs",
    "kgen, informers": "kgen_informers/main.cc",
    "kgen, Manager": "kgen_manager/main.cc",
}
IMPORTS = re.compile(r'import \(.*?^\)|^use [^;]*;|^#include .*?$|^using [^;]*;', re.MULTILINE | re.DOTALL)

# The parts of the CronJob: in Go, in the folder cronjob/ here, and in C++, in examples/cronjob.
GO, CXX = HERE / "cronjob", ROOT / "examples" / "cronjob"
PARTS = {
    "API of two versions": (["api/v1/cronjob.go", "api/v2/cronjob.go"], ["api/cronjob_v1.h", "api/cronjob_v2.h"]),
    "webhooks and conversion": (["webhooks.go"], ["webhooks.h", "webhooks.cc"]),
    "controller": (["controller.go"], ["controller.h", "controller.cc"]),
    "schedules": ([], ["schedule.h", "schedule.cc"]),
    "main": (["main.go"], ["main.cc"]),
}
DEEP_COPIES = [f"api/{version}/zz_generated.deepcopy.go" for version in ("v1", "v2")]
MANIFESTS = {
    "CRD": (["batch.tutorial.kubebuilder.io_cronjobs.yaml"], ["crd.yaml"]),
    "roles": (["role.yaml"], ["role.yaml", "role_writes.yaml"]),
    "webhook configurations": (["manifests.yaml"], ["webhooks.yaml"]),
}


def code(text):
    """The lines with code, without white space."""
    lines = ("".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("//")]


def count(paths):
    """Lines, characters and lines of imports of files."""
    sums = [0, 0, 0]
    for path in paths:
        text = path.read_text()
        lines = code(IMPORTS.sub("", text))
        for i, number in enumerate((len(lines), sum(map(len, lines)), len(code(text)) - len(lines))):
            sums[i] += number
    return sums


def manifest_lines(paths):
    return sum(not line.startswith("#") for path in paths for line in path.read_text().splitlines() if line.strip())


def row(cells):
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def program_rows():
    for name, path in PROGRAMS.items():
        yield row([f"[{name}](../tests/integration/comparison/{path})", *count([HERE / path])])


def cronjob_rows():
    total = [0] * 6
    for part, (in_go, in_cxx) in PARTS.items():
        counts = count([GO / name for name in in_go]) + count([CXX / name for name in in_cxx])
        total = [sum(pair) for pair in zip(total, counts)]
        yield row([part, *counts])
    yield row(["all", *total])


def generated_rows(folder):
    yield row(["deep copies", count([GO / name for name in DEEP_COPIES])[0], 0])
    for manifest, (in_go, in_cxx) in MANIFESTS.items():
        yield row([manifest, manifest_lines(folder / name for name in in_go),
                   manifest_lines(CXX / "deploy" / name for name in in_cxx)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--generated", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = [*program_rows(), *cronjob_rows()]
    if arguments.generated:
        rows += generated_rows(arguments.generated)
    if not arguments.check:
        print("\n".join(rows))
        return 0
    document = DOCUMENT.read_text().splitlines()
    wrong = [line for line in rows if line not in document]
    for line in wrong:
        print(f"docs/comparison.md lacks this row; run tests/integration/comparison/lines.py: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
