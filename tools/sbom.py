#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Writes the SBOM of a source archive in SPDX 2.3: sbom.py --archive FILE --time SECONDS [ROOT]; sbom.py --check FILE.

The dependencies are what the CMake files look for: each find_package() and pkg_check_modules() needs a row in PACKAGES,
and each row needs one of these. The archive contains none of them. The same archive gives the same bytes.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import sys

# What CMake looks for -> name, license, and what needs it. None: a part of the system or of CMake.
PACKAGES = {
    "Threads": None,
    "PkgConfig": None,
    "OpenSSL": ("OpenSSL", "Apache-2.0", "runtime"),
    "nlohmann_json": ("nlohmann_json", "MIT", "runtime"),
    "libnghttp2": ("nghttp2", "MIT", "runtime"),
    "yaml-0.1": ("libyaml", "MIT", "runtime"),
    "re2": ("re2", "BSD-3-Clause", "runtime"),
    "Boost": ("Boost", "BSL-1.0", "build"),
    "ZLIB": ("zlib", "Zlib", "tool"),
    "LLVM": ("LLVM", "Apache-2.0 WITH LLVM-exception", "tool"),
    "Clang": ("Clang", "Apache-2.0 WITH LLVM-exception", "tool"),
    "GTest": ("GoogleTest", "BSD-3-Clause", "test"),
}
# The tool also includes this header, which has no package for CMake.
HEADERS = {"cxxopts.hpp": ("cxxopts", "MIT", "tool")}

RELATIONSHIPS = {
    "runtime": "RUNTIME_DEPENDENCY_OF",
    "build": "BUILD_DEPENDENCY_OF",
    "tool": "BUILD_TOOL_OF",
    "test": "TEST_DEPENDENCY_OF",
}
FILES = ("cmake/KgenDependencies.cmake", "generator/CMakeLists.txt", "generator/crd/CMakeLists.txt")
FIND = re.compile(r"^\s*find_package\((\w+)(?:\s+([\d.]+))?", re.MULTILINE)
MODULE = re.compile(r"^\s*pkg_check_modules\((?:\w+)\s[^)]*?([\w.-]+)\)", re.MULTILINE)


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def dependencies(root):
    """(name, license, scope, least version) of each dependency."""
    found = {}
    for name in FILES:
        text = read(root, name)
        found.update({match[1]: match[2] for match in FIND.finditer(text)})
        found.update({match[1]: None for match in MODULE.finditer(text)})
    unknown = sorted(found.keys() - PACKAGES.keys())
    gone = sorted(PACKAGES.keys() - found.keys())
    if unknown or gone:
        sys.exit(f"sbom.py: PACKAGES lacks {unknown}, and has {gone}, which {' and '.join(FILES)} do not look for")
    rows = [(*PACKAGES[name], version) for name, version in found.items() if PACKAGES[name]]
    rows += [(*row, None) for row in HEADERS.values()]
    return sorted(rows)


def package(name, license_name, version):
    return {
        "SPDXID": "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        **({"versionInfo": f">= {version}"} if version else {}),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": license_name,
        "licenseDeclared": license_name,
        "copyrightText": "NOASSERTION",
    }


def document(root, archive, seconds):
    version = re.search(r"^project\(kgen VERSION ([\d.]+)", read(root, "CMakeLists.txt"), re.MULTILINE)[1]
    with open(archive, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    own = package("kgen", "Apache-2.0", None)
    own.update(
        versionInfo=version,
        packageFileName=os.path.basename(archive),
        checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
        copyrightText="Copyright The kgen Authors",
        supplier="Organization: The kgen Authors",
        primaryPackagePurpose="SOURCE",
    )
    rows = dependencies(root)
    packages = [package(name, license_name, least) for name, license_name, _, least in rows]
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    for (_, _, scope, _), dependency in zip(rows, packages):
        relationships.append((dependency["SPDXID"], RELATIONSHIPS[scope], own["SPDXID"]))
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"kgen-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/kgen-{version}-{digest}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: kgen-sbom.py"],
        },
        "packages": [own, *packages],
        "relationships": [
            {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}
            for first, kind, second in relationships
        ],
    }


def faults(sbom):
    """What is wrong with a document, by the parts of the schema of SPDX 2.3 that it uses."""

    def wants(where, value, members):
        for name, pattern in members.items():
            if not re.fullmatch(pattern, str(value.get(name, ""))):
                yield f"{where}.{name}: {value.get(name)!r} is not {pattern}"

    yield from wants(
        "document",
        sbom,
        {
            "spdxVersion": r"SPDX-2\.3",
            "dataLicense": r"CC0-1\.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": ".+",
            "documentNamespace": r"https?://[^#\s]+",
        },
    )
    creation = sbom.get("creationInfo", {})
    yield from wants("creationInfo", creation, {"created": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"})
    for creator in creation.get("creators") or [""]:
        if not re.fullmatch(r"(Tool|Person|Organization): .+", creator):
            yield f"creationInfo.creators: {creator!r} is no tool, person or organization"
    known = {"SPDXRef-DOCUMENT"}
    for each in sbom.get("packages", []):
        yield from wants(
            f"packages[{each.get('name')}]",
            each,
            {
                "SPDXID": r"SPDXRef-[A-Za-z0-9.-]+",
                "name": ".+",
                "downloadLocation": r"NOASSERTION|NONE|\S+://\S+",
                "filesAnalyzed": "False",
                "licenseDeclared": r"NOASSERTION|[A-Za-z0-9.-]+( WITH [A-Za-z0-9.-]+)?",
            },
        )
        if each.get("SPDXID") in known:
            yield f"packages[{each.get('name')}].SPDXID: {each['SPDXID']} is there twice"
        known.add(each.get("SPDXID"))
        for checksum in each.get("checksums", []):
            yield from wants("checksums", checksum, {"algorithm": "SHA256", "checksumValue": "[0-9a-f]{64}"})
    described = False
    for each in sbom.get("relationships", []):
        ends = {each.get("spdxElementId"), each.get("relatedSpdxElement")}
        if not ends <= known:
            yield f"relationships: {sorted(map(str, ends - known))} are not in the document"
        if each.get("relationshipType") not in {"DESCRIBES", *RELATIONSHIPS.values()}:
            yield f"relationships: {each.get('relationshipType')!r} is no type of a relationship"
        described = described or each.get("relationshipType") == "DESCRIBES"
    if not described:
        yield "relationships: the document describes nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive")
    parser.add_argument("--time", type=int, default=0)
    parser.add_argument("--check")
    parser.add_argument("root", nargs="?", default=".")
    options = parser.parse_args()
    if options.check:
        with open(options.check, encoding="utf-8") as file:
            found = list(faults(json.load(file)))
        sys.exit("\n".join(found) if found else 0)
    json.dump(document(options.root, options.archive, options.time), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
