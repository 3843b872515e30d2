# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""The tables of docs/reference, made from the sources. pages.py puts them into the pages."""

import re

STRINGS = r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*'


def said(literals):
    """What adjacent string literals say."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"').replace("\\\\", "\\")


def pieces(code):
    """What the literals of an expression say, with dots for what is between them."""
    return " ... ".join(part.strip() for part in map(said, re.findall(STRINGS, code)) if part.strip())


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def source(tree, name):
    return "\n".join(tree.lines(name))


PREFIXES = "kgen|controller_runtime|workqueue|rest_client|leader_election|certwatcher|process"


def table_metrics(tree):
    """Names, types and helps, as the sources of the controller layer pass them to the registry."""
    found = {}
    for name in tree.under("runtime/src/controller/", suffixes=(".cc",)):
        text = source(tree, name)
        for variable, metric in re.findall(r'constexpr std::string_view (k\w+) = "(\w+)";', text):
            text = re.sub(rf"\b{variable}\b", f'"{metric}"', text)
        pattern = rf'(\w*)\(?[^"();]{{0,40}}"((?:{PREFIXES})_\w+)",\s*(?:\.help = )?({STRINGS})'
        for call, metric, help_text in re.findall(pattern, text):
            kind = "histogram" if "Histogram" in call else "counter" if metric.endswith("_total") else "gauge"
            found.setdefault(metric, (kind, said(help_text)))
    yield "| metric | type | help |"
    yield "|---|---|---|"
    for metric, (kind, text) in sorted(found.items()):
        yield f"| `{metric}` | {kind} | {cell(text).rstrip('.')} |"


def table_kinds(tree):
    """Each kind of the built-in API, its header and its target."""
    yield "| type | header | CMake target |"
    yield "|---|---|---|"
    for name in sorted(tree.under("generated/k8s/", suffixes=("/client.h",))):
        group, version = name.split("/")[2:4]
        clients = re.findall(r"^using \w+Client =\s*kgen::ResourceClient<\s*(\w+),", source(tree, name), re.M)
        for kind in dict.fromkeys(clients):
            yield f"| `k8s::{group}::{version}::{kind}` | `k8s/{group}/{version}/types.h` | `kgen::k8s_{group}` |"


# A type at the level of a namespace. Types of detail namespaces are left out, and forward declarations.
TYPE = re.compile(r"^(?:class|struct|enum class)(?: \[\[\w+\]\])? (\w+)(?: final)?(?= |\n)[^;]*?\{", re.M)


def namespaces(text):
    """(namespace, text) of the parts of a header, without detail namespaces; nested ones have their own part."""
    stack, parts = [], []
    for line in text.split("\n"):
        opened = re.match(r"(?:inline )?namespace ([\w:]*) ?\{$", line)
        if opened:
            stack.append(opened.group(1))
        elif re.match(r"\}  // namespace", line):
            stack.pop()
        else:
            parts.append(("::".join(stack), line))
    grouped = {}
    for space, line in parts:
        grouped.setdefault(space, []).append(line)
    return {space: "\n".join(lines) for space, lines in grouped.items() if "detail" not in space}


def public_types(tree):
    """(type, header, layer) of what the public headers define."""
    for name in tree.under("runtime/include/kgen/", suffixes=(".h",)):
        layer = name.split("/")[3]
        for space, text in namespaces(source(tree, name)).items():
            for kind in dict.fromkeys(TYPE.findall(text)):
                yield f"{space}::{kind}", name.removeprefix("runtime/include/"), layer


def table_types(tree):
    """Each type of the public headers, its header and the target to link."""
    yield "| type | header | CMake target |"
    yield "|---|---|---|"
    for kind, header, layer in sorted(public_types(tree), key=lambda row: row[0].lower()):
        target = f"kgen::{layer}" if layer in ("testing", "validation") else "kgen::runtime"
        yield f"| `{kind}` | `{header}` | `{target}` |"


MEMBER = re.compile(
    r"^  (?!friend |static |using |struct |enum |return )([\w:<>, *&()]+?) (\w+)"
    r"(?:\{(.*?)\}| = ([^;]*))?;(?: +// (.*))?$"
)


def options_of(text, struct):
    """(member, type, default, comment) of a struct; a comment is above its member, or behind it and below."""
    body = re.search(rf"^struct {struct} \{{\n(.*?)^\}};", text, re.M | re.S)
    above, rows = [], []
    for line in body.group(1).split("\n"):
        behind = re.match(r"^ {20,}// (.*)", line)
        comment = re.match(r"^  // (.*)", line)
        member = MEMBER.match(line)
        if member and ("(" not in member.group(1) or "<" in member.group(1)):  # else a function
            kind, name, braces, value, note = member.groups()
            rows.append([name, kind, value or braces or "", " ".join(above + ([note] if note else []))])
            above = []
        elif behind and rows:
            rows[-1][3] += " " + behind.group(1)
        elif comment:
            above.append(comment.group(1))
        elif line.strip() == "" or not line.startswith("   "):
            above = []
    return rows


OPTIONS = "Options|Config|WarmStart|Backoff|ControllerDefaults|ManagedCertificates|TlsFiles|InformerScope|ListFilter"


def table_options(tree):
    """The members of each struct of options, with what the header says of them."""
    for name in tree.under("runtime/include/kgen/", suffixes=(".h",)):
        text = source(tree, name)
        header = name.removeprefix("runtime/include/")
        for struct in re.findall(rf"^struct (\w*(?:{OPTIONS})) \{{$", text, re.M):
            rows = options_of(text, struct)
            if not rows:
                continue
            yield f"### {struct}"
            yield ""
            yield f"[`{header}`](../../{name})"
            yield ""
            yield "| member | type | initially | |"
            yield "|---|---|---|---|"
            for member, kind, value, comment in rows:
                yield f"| `{member}` | `{cell(kind)}` | {f'`{cell(value)}`' if value else ''} | {cell(comment)} |"
            yield ""


PLACES = {
    "kOnStruct": "a struct",
    "kOnMember": "a member",
    "kOnEnum": "an enum class",
    "kOnEnumValue": "a value of an enum",
    "kOnAlias": "a named type",
    "kOnNamespace": "a namespace",
    "kSchema": "a struct, a member, an enum class, a named type",
    "kList": "a member, a named type",
    "kGroup": "a struct, a namespace",
    "kAnywhere": "anything",
}
FORMS = {"kNone": "none", "kBool": "true or false", "kInteger": "an integer", "kNumber": "a number", "kText": "text",
         "kList": "a list", "kJson": "a value, as JSON", "kArgs": "arguments"}


def table_markers(tree):
    """The rows of the table of markers, and their arguments."""
    text = source(tree, "generator/crd/marker_table.cc")
    arguments = {}
    for name, body in re.findall(r"constexpr Arg (\w+)\[\] = \{(.*?)\};", text, re.S):
        arguments[name] = [(word, "Arg::kRequired" in rest) for word, rest in re.findall(r'\{"(\w+)"([^}]*)\}', body)]
    rows = re.search(r"constexpr MarkerRow kRows\[\] = \{(.*?)^\};", text, re.S | re.M).group(1)
    yield "| marker | on | value | arguments; those in bold are required |"
    yield "|---|---|---|---|"
    pattern = rf'\{{{STRINGS}, ([\w| ]+), ValueForm::(\w+),\s*({STRINGS})(?:,\s*(\w+))?\}}'
    for places, form, example, args in re.findall(pattern, rows):
        where = ", ".join(PLACES[place.strip()] for place in places.split("|"))
        given = ", ".join(f"**{word}**" if needed else word for word, needed in arguments.get(args, []))
        yield f"| `{cell(said(example))}` | {where} | {FORMS[form]} | {given} |"


def table_synonyms(tree):
    """Other spellings of markers."""
    text = source(tree, "generator/crd/marker_table.cc")
    body = re.search(r"kSynonyms\[\] = \{(.*?)^\};", text, re.S | re.M).group(1)
    yield "| also written | is |"
    yield "|---|---|"
    for other, real in re.findall(r'\{"(.*?)", "(.*?)"\}', body):
        yield f"| `{other}` | `{real}` |"


def arguments_of(text, start):
    """The arguments of the call whose parenthesis is at `start`."""
    depth, begin, found = 0, start + 1, []
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|[(){}\[\],]', text[start:]):
        at, mark = start + token.start(), token.group()
        depth += (mark in "({[") - (mark in ")}]")
        if (mark == "," and depth == 1) or depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
        if depth == 0:
            return found
    return found


SEVERITY = {"Error": "error", "Fail": "error", "Warn": "warning", "Warning": "warning", "Info": "info"}


def table_diagnostics(tree):
    """The ids of diagnostics, the first message of each in the sources, and the way out."""
    ways = dict(re.findall(rf'\{{"([\w-]+)", ({STRINGS})\}},', source(tree, "generator/ways_out.cc")))
    body = re.search(r"kIds = \{(.*?)\};", source(tree, "generator/diagnostic.cc"), re.S).group(1)
    rows = {word: ["warning", "", ""] for word in re.findall(r'"([\w-]+)"', body)}
    rows |= {word: ["error", "", said(way)] for word, way in ways.items() if word not in rows}
    for name in tree.under("generator/", suffixes=(".cc",)):
        text = source(tree, name)
        for call in re.finditer(r'\b(Error|Warn|Warning|Info)\((?=(?:[\w:]+, )?"([a-z]+(?:-[a-z0-9]+)*)",)', text):
            sentences = [each for each in map(pieces, arguments_of(text, call.end() - 1)) if " " in each]
            row = rows.setdefault(call.group(2), [SEVERITY[call.group(1)], "", ""])
            if sentences and not row[1]:
                row[1] = sentences[0]
            if len(sentences) > 1 and not row[2]:
                row[2] = sentences[-1]
    yield "| id | | one of its messages, without what it is about | way out |"
    yield "|---|---|---|---|"
    for word, (severity, message, way) in sorted(rows.items()):
        yield f"| `{word}` | {severity} | {cell(message)} | {cell(way)} |"


def table_log_lines(tree):
    """What the default log writes for each event of the observer: the literals of its sentence."""
    levels = {}
    for function in source(tree, "runtime/src/core/observers/log.cc").split("  void On")[1:]:
        say = function.find("Say(")
        level = arguments_of(function, say + 3)[0] if say >= 0 else ""
        words = re.findall(r"LogLevel::k(\w+)", level)
        levels[function.split("(")[0]] = " or ".join(word.lower() for word in words) or "as given"
    text = source(tree, "runtime/src/core/observers/log_sentences.cc")
    yield "| `Observer::` | level | texts of its line |"
    yield "|---|---|---|"
    sentence = re.compile(r"^std::string Sentence\(const Observer::(\w+)& event\) \{(.*?)^\}", re.S | re.M)
    for event, body in sentence.findall(text):
        body = re.sub(r"Others\([^;]*", "", body)  # what a line summarizes besides its own event
        parts = [said(part).strip() for part in re.findall(STRINGS, body)]
        texts = ", ".join(
            f"`{cell(part)}`"
            for part in dict.fromkeys(parts)
            if len(part) > 2 and (" " in part or part[0] in ":;")
        )
        yield f"| `{event}` | {levels.get(event, '')} | {texts} |"


TABLES = {name[6:]: value for name, value in list(globals().items()) if name.startswith("table_")}
