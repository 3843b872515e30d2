#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Measures what generated code costs to compile: bytes of C++, CPU seconds and peak memory, without embedded CRDs.

    bench/compile_cost.py build/dev/bin/kgen                       36 kinds, each with 12 pod templates
    bench/compile_cost.py --templates 1 build/dev/bin/kgen         36 kinds, each with one
    bench/compile_cost.py build/dev/bin/kgen crds/*.yaml           a line for each file
    bench/compile_cost.py --distinct build/dev/bin/kgen crds/*.yaml  also what the distinct shapes of each file cost, and
                                                                   the ratios of all files together
    bench/compile_cost.py --write FOLDER                           only writes the CRDs of the 36 kinds

The pod template is the one in openapi/, with every reference expanded, as controller-gen does. In three of four places
it is an older or a reduced one: without the fields that Kubernetes added lately, or with only labels, annotations and
name as metadata. The result is the same on every run. Compiles with g++ -O2; --cxx selects another compiler.

--distinct makes a second CRD from each file, in which every distinct shape stands once: one member for each, whose own
objects are free-form. It compiles that too and prints the ratio of the two, which must stay below 1.5: the cost of
a kind depends on its distinct shapes, not on how often it repeats them. Objects without properties do not count. Needs
PyYAML. --runs N compiles everything N times, the two in turn, and takes the least, which other work disturbs least.
"""

import argparse
import json
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "openapi", "kubernetes-1.36", "api__v1.json")
KINDS = 36
LIMIT = 1.5  # of the ratio that --distinct prints
# Fields anywhere in a pod that were added in Kubernetes 1.25 and later.
LATE = {"appArmorProfile", "claims", "clusterTrustBundle", "fileKeyRef", "hostUsers", "hostnameOverride",
        "matchLabelKeys", "mismatchLabelKeys", "os", "podCertificate", "recursiveReadOnly", "resizePolicy",
        "resourceClaims", "restartPolicyRules", "schedulingGates", "sleep", "stopSignal", "supplementalGroupsPolicy",
        "volumeAttributesClassName"}


def expand(schema, definitions):
    """Returns a schema without references; meta/v1 types that are values stay values."""
    if "allOf" in schema:
        schema = schema["allOf"][0]
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        short = name.rsplit(".", 1)[1]
        if short == "Quantity":
            return {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
        if short == "IntOrString":
            return {"x-kubernetes-int-or-string": True}
        if short in ("Time", "MicroTime"):
            return {"type": "string", "format": "date-time"}
        if short == "FieldsV1":
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return expand(definitions[name], definitions)
    out = {key: schema[key] for key in ("type", "format", "required") if key in schema}
    if "properties" in schema:
        out["properties"] = {name: expand(value, definitions) for name, value in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in schema:
            out[key] = expand(schema[key], definitions)
    return out


def without(schema, names):
    if not isinstance(schema, dict):
        return schema
    out = {key: without(value, names) for key, value in schema.items()}
    if "properties" in schema:
        out["properties"] = {name: without(value, names)
                             for name, value in schema["properties"].items() if name not in names}
        if "required" in out:
            out["required"] = [name for name in out["required"] if name in out["properties"]]
    return out


def templates():
    with open(DOCUMENT, encoding="utf-8") as file:
        definitions = json.load(file)["components"]["schemas"]
    full = expand({"$ref": "#/io.k8s.api.core.v1.PodTemplateSpec"}, definitions)
    full["properties"]["metadata"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    older = without(full, LATE)
    text = {"type": "object", "additionalProperties": {"type": "string"}}
    reduced = {"type": "object", "properties": {"annotations": text, "labels": text, "name": {"type": "string"}}}
    return [full, older, {**full, "properties": {**full["properties"], "metadata": reduced}},
            {**older, "properties": {**older["properties"], "metadata": reduced}}]


def write_crds(folder, each):
    variants = templates()
    paths = []
    for i in range(KINDS):
        properties = {"replicas": {"type": "integer", "format": "int32"}}
        for j in range(each):
            properties[f"part{j}"] = {"type": "object", "properties": {
                "enabled": {"type": "boolean"}, "template": variants[(i + j) % len(variants)]}}
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
        crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
               "metadata": {"name": f"works{i}.load.example.com"},
               "spec": {"group": "load.example.com", "scope": "Namespaced",
                        "names": {"kind": f"Work{i}", "plural": f"works{i}", "singular": f"work{i}"},
                        "versions": [{"name": "v1", "served": True, "storage": True,
                                      "schema": {"openAPIV3Schema": schema}}]}}
        paths.append(os.path.join(folder, f"works{i}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(crd, file, separators=(",", ":"), sort_keys=True)
    return paths


def run(command):
    """Runs a command and returns its CPU seconds and its peak memory in MB."""
    sys.stdout.flush()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit("failed: " + " ".join(command[:6]) + " ...")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def shape(schema, found, top):
    """What decides about the type of a value; puts the properties of each object into `found`, by shape."""
    if schema.get("x-kubernetes-int-or-string"):
        return ("int-or-string",)
    kind = schema.get("type", "")
    more = (schema.get("nullable", False), schema.get("x-kubernetes-preserve-unknown-fields", False))
    if kind == "array":
        return ("list", shape(schema.get("items", {}), found, False), more)
    if "properties" not in schema:
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            return ("map", shape(values, found, False), more)
        return (kind, schema.get("format", ""), more)
    own = ("object", more) + tuple(sorted((name, shape(value, found, False))
                                          for name, value in schema["properties"].items()))
    if not top:
        found.setdefault(own, flat(schema, True))
    return own


def flat(schema, top):
    """A schema whose inner objects are free-form."""
    if not top and "properties" in schema:
        return FREE
    out = {key: value for key, value in schema.items() if key not in ("items", "additionalProperties", "properties")}
    for key in ("items", "additionalProperties"):
        if key in schema:
            out[key] = flat(schema[key], False) if isinstance(schema[key], dict) else schema[key]
    if "properties" in schema:
        out["properties"] = {name: flat(value, False) for name, value in schema["properties"].items()}
    return out


def distinct_crds(path, folder):
    """A file with the kinds of `path`, of which the first holds every distinct shape of all of them once."""
    import yaml  # only here: nothing else needs it
    # A plain `=` is text here.
    yaml.CSafeLoader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)
    with open(path, encoding="utf-8") as file:
        crds = [crd for crd in yaml.load_all(file, yaml.CSafeLoader) if crd and crd.get("kind") == "CustomResourceDefinition"]
    found = {}
    roots = []
    for crd in crds:
        common = crd["spec"].pop("validation", {})  # of all versions, in apiextensions/v1beta1
        for version in crd["spec"]["versions"]:
            root = version.get("schema", common).get("openAPIV3Schema", {})
            shape(root, found, True)
            roots.append(root)
            version["schema"] = {"openAPIV3Schema": {"type": "object"}}
    if roots:
        # Direct children of a kind, which have types of their own even if only what was inside of them differs.
        members = {f"shape{i}": value for i, value in enumerate(found.values())}
        crds[0]["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": {"type": "object", "properties": members}}
    out = os.path.join(folder, "distinct.yaml")
    with open(out, "w", encoding="utf-8") as file:
        yaml.dump_all(crds, file, yaml.CSafeDumper, default_flow_style=True, sort_keys=True, width=10**9)
    return out


def measure(title, options, inputs):
    """Prints a line, and returns the ratio of CPU seconds if there is one."""
    ratio = None
    with tempfile.TemporaryDirectory() as folder:
        distinct = [distinct_crds(inputs[0], folder)] if options.distinct else None
        columns = once = None
        for _ in range(options.runs):
            columns = least(columns, cost(options, inputs))
            once = least(once, cost(options, distinct)) if distinct else None
    text = "{:6} {:8.2f} {:8.2f} {:8.2f} {:8.0f}".format(*columns)
    if once:
        ratio = columns[3] / once[3]
        text += f" {once[0]:6} {once[3]:8.2f} {columns[1] / once[1]:8.2f} {ratio:9.2f}"
    print(f"{title:48} {text}", flush=True)
    return ratio


def least(one, other):
    return other if one is None or other[3] < one[3] else one


def summarize(ratios):
    """Prints the ten largest ratios, the median, and how many are above the limit."""
    rows = sorted(((ratio, title) for title, ratio in ratios), reverse=True)
    print(f"\n{len(rows)} files, median {rows[len(rows) // 2][0]:.2f}, above {LIMIT}: "
          f"{sum(ratio > LIMIT for ratio, _ in rows)}; the largest:")
    for ratio, title in rows[:10]:
        print(f"{title:48} {ratio:6.2f}")


def cost(options, inputs):
    """Types, MB of C++ without the CRDs, seconds to generate, CPU seconds and peak MB to compile."""
    with tempfile.TemporaryDirectory() as out:
        begin = time.monotonic()
        run([options.kgen, "generate", "--no-warn", "crd-structural", "--out", out,
             "--namespace", "cost", *inputs])
        generated = time.monotonic() - begin
        size = structs = 0
        source = os.path.join(out, "cost", "cost.cc")
        for folder, _, names in os.walk(out):
            for name in names:
                if name.endswith((".h", ".cc")) and not name.endswith("_manifests.cc"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        text = file.read()
                    size += len(text.encode())
                    structs += text.count("::kTable = {")
        cpu, memory = run([options.cxx, "-std=c++23", "-O2", "-c", "-o", os.path.join(out, "cost.o"), "-I", out, "-I",
                           os.path.join(ROOT, "runtime", "include"), source])
    return structs, size / 1e6, generated, cpu, memory


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--templates", type=int, default=12, help="in each of the 36 kinds")
    parser.add_argument("--write", metavar="FOLDER")
    parser.add_argument("--distinct", action="store_true", help="also the cost of the distinct shapes of each file")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("kgen", nargs="?")
    parser.add_argument("crds", nargs="*")
    options = parser.parse_args()
    if options.write:
        os.makedirs(options.write, exist_ok=True)
        write_crds(options.write, options.templates)
        return
    if not options.kgen:
        parser.error("which kgen?")
    print(f"{'input':48} {'types':>6} {'MB':>8} {'gen. s':>8} {'CPU s':>8} {'peak MB':>8}"
          + (f" {'shapes':>6} {'CPU s':>8} {'MB ratio':>8} {'CPU ratio':>9}" if options.distinct else ""))
    if options.crds:
        ratios = []
        for path in options.crds:
            title = os.path.basename(os.path.normpath(path))[-48:]
            ratios.append((title, measure(title, options, [path])))
        if options.distinct and len(ratios) > 1:
            summarize(ratios)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(f"{KINDS} kinds of {options.templates} pod templates", options, write_crds(folder, options.templates))


if __name__ == "__main__":
    main()
