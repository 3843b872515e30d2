#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""The lint rules that need only the text of the files: text_rules.py RULE [ROOT].

Prints `file:line: message` for each finding and exits with 1 when there is one. `./dev lint` runs every rule;
tests/lint/ shows each of them firing. Exceptions stand in tools/lint/allowed.txt and nowhere else.
"""

import collections
import functools
import json
import os
import re
import subprocess
import sys

LAYERS = ["core", "codec", "validation", "net", "client", "cache", "controller", "testing"]  # each may use those before it
COPYRIGHT = "Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CXX = (".h", ".cc")
MAX_LINES = 800
MAX_FILES = 40  # C++ files in a folder


class Tree:
    """The project's files, by path relative to the root, and their lines."""

    def __init__(self, root):
        self.root = root
        names = self._tracked() if os.path.exists(os.path.join(root, ".git")) else []
        if not names:  # not a checkout, or one that git refuses to read
            names = [
                os.path.relpath(os.path.join(folder, name), root)
                for folder, _, files in os.walk(root)
                for name in files
            ]
        names = [name for name in set(names) if not name.startswith(("build/", ".git/"))]
        self.files = sorted(name for name in names if os.path.isfile(os.path.join(root, name)))
        self._allowed = self._read_allowed()

    def _tracked(self):
        command = ["git", "-C", self.root, "ls-files", "-co", "--exclude-standard"]
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout.splitlines()

    def lines(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()

    def code(self, name):
        """(number, text) of each line without comments and without the inside of string literals."""
        inside = False
        for number, line in enumerate(self.lines(name), 1):
            text = re.sub(r'"(\\.|[^"\\])*"', '""', line) if "#include" not in line else line
            if inside:
                end = text.find("*/")
                if end < 0:
                    continue
                text, inside = text[end + 2 :], False
            text = re.sub(r"/\*.*?\*/", " ", text.split("//")[0] if "#include" not in text else text)
            start = text.find("/*")
            if start >= 0:
                text, inside = text[:start], True
            yield number, text

    def includes(self, name):
        """(number, bracket, path) of each include line."""
        for number, line in enumerate(self.lines(name), 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1), match.group(2)

    def under(self, *prefixes, suffixes=CXX):
        return [f for f in self.files if f.startswith(prefixes) and f.endswith(suffixes)]

    def allowed(self, rule, name, word="-"):
        return (rule, name, word) in self._allowed

    def _read_allowed(self):
        path = os.path.join(self.root, "tools/lint/allowed.txt")
        if not os.path.isfile(path):
            return set()
        with open(path, encoding="utf-8") as file:
            rows = [line.split(None, 3) for line in file if line.strip() and not line.startswith("#")]
        for row in rows:
            if len(row) < 4:
                sys.exit(f"{path}: '{' '.join(row)}' needs a rule, a file, a word and a reason")
        return {tuple(row[:3]) for row in rows}


def layer_of(name):
    match = re.match(r"runtime/(?:include/kgen|src)/(\w+)/", name)
    return match.group(1) if match else None


def included_layer(path):
    match = re.match(r"(?:kgen/)?(\w+)/", path)
    return match.group(1) if match and match.group(1) in LAYERS else None


def rule_arrows(tree):
    """core <- codec <- net <- client <- cache <- controller; validation is beside net; testing uses all; the generator and
    LLVM stand apart."""
    compiler = re.compile(r"^(llvm|clang|clang-c|generator)/")
    for name in tree.under("runtime/", "generated/", "generator/", "examples/"):
        layer = layer_of(name)
        for number, bracket, path in tree.includes(name):
            target = included_layer(path) if bracket == '"' or path.startswith("kgen/") else None
            if not name.startswith("generator/") and compiler.match(path):
                yield name, number, f"{path}: only generator/ may use LLVM and the generator"
            elif layer and path.startswith("k8s/"):
                yield name, number, f"{path}: the runtime does not know generated code"
            elif layer and target and LAYERS.index(target) > LAYERS.index(layer):
                yield name, number, f"{path}: layer {layer} may not use layer {target}"
            elif layer not in (None, "validation", "testing") and target == "validation":
                yield name, number, f"{path}: only testing may use validation, so that a program without it links no RE2"
            elif name.startswith("generator/") and target not in (None, "core", "codec", "validation"):
                yield name, number, f"{path}: the generator uses core, codec and validation only"
            elif name.startswith(("generated/", "examples/")) and target and not path.startswith("kgen/"):
                yield name, number, f"{path}: a private header of the runtime"


# The rooms of public headers that have no source of the same name, or whose source implements an interface.
ROOM_OF_HEADER = {
    "core": ("chrono", "clock", "conditions", "enum_names", "executor", "function", "object", "printer_column", "try",
             "waiter"),
    "core/observers": ("observer",),
    "core/tables": ("value_type",),
    "client/verbs": ("async_client", "crd_text", "resource_client", "subresources", "verbs"),
    "cache": ("dynamic_informer", "informer_options", "shared_informer", "sync_options", "warm_start"),
    "cache/reflector": ("informer_status", "transform"),
    "controller/helpers": ("status_part",),
    "controller/manager": ("controller", "request"),
    "controller/queue": ("queue_handle",),
    "controller/webhook": ("webhook",),
    "testing": ("matchers",),
    "testing/webhooks": ("webhook_fault",),
}


def stated_order(tree):
    """(layer, room) -> the room's place in the table of ARCHITECTURE.md; the room "" is the layer's own folder."""
    page, places, inside = "ARCHITECTURE.md", {}, False
    for line in tree.lines(page) if page in tree.files else []:
        inside = line.startswith("| layer | rooms") or (inside and line.startswith("|"))
        row = re.match(r"\| (\w+) \| (.*) \|$", line) if inside else None
        for place, room in enumerate(re.findall(r"`([\w/]+)`|\([^)]*\)", row.group(2)) if row else []):
            places[row.group(1), room] = place
    return places


def rooms_of(tree):
    """The layer and the room of each source, private header and public header; None for a header that has no room."""
    rooms = {}
    for name in tree.under("runtime/src/", "generator/"):
        layer, *folders = os.path.dirname(name.removeprefix("runtime/src/")).split("/")
        rooms[name] = (layer, "/".join(folders))
        if name.startswith("runtime/src/") and name.endswith(".cc"):
            rooms[f"runtime/include/kgen/{layer}/{os.path.basename(name)[:-3]}.h"] = rooms[name]
    for room, stems in ROOM_OF_HEADER.items():
        layer, _, folder = room.partition("/")
        rooms |= {f"runtime/include/kgen/{layer}/{stem}.h": (layer, folder) for stem in stems}
    return rooms


def rule_rooms(tree):
    """A folder of the runtime or the generator is a room: it is not large, and uses only the rooms that stand before it
    in the table of ARCHITECTURE.md. A public header belongs to the room of the source of the same name."""
    counts = collections.Counter(os.path.dirname(name) for name in tree.under("runtime/", "generator/", "tests/"))
    for folder, count in sorted(counts.items()):
        if count > MAX_FILES:
            yield folder, 1, f"{count} C++ files in one folder; at most {MAX_FILES}, so make rooms by subject"
    rooms, order = rooms_of(tree), stated_order(tree)
    with_rooms = {layer for layer, _ in order}
    for name in tree.under("runtime/src/", "generator/", "runtime/include/kgen/"):
        layer, room = rooms.get(name, (layer_of(name), None))
        if layer not in with_rooms:
            continue  # all of its files are in one room
        if (layer, room) not in order:
            place = "the table of ARCHITECTURE.md" if name in rooms else "ROOM_OF_HEADER in tools/lint/text_rules.py"
            yield name, 1, f"has no room: add it to {place}"
            continue
        for number, bracket, path in tree.includes(name):
            paths = [path, f"runtime/src/{path}", f"runtime/include/{path}"] if bracket == '"' else []
            target = next((rooms[p] for p in paths if p in rooms and p in tree.files), None)
            if target in order and target[0] == layer and order[target] > order[layer, room]:
                yield name, number, f"{path}: room {room or layer} may not use room {target[1] or layer}"


def rule_circles(tree):
    """No circle of includes leads through two files, where a header and the source beside it count as one file."""
    files = tree.under("runtime/", "generator/", "tests/", "bench/", "examples/")
    names, arrows = set(files), {}  # (file, file), without endings -> the first include that leads there
    for name in files:
        for number, bracket, path in tree.includes(name):
            beside = os.path.join(os.path.dirname(name), path)
            paths = [path, f"runtime/src/{path}", f"runtime/include/{path}", beside] if bracket == '"' else []
            target = next((p for p in paths if p in names), None)
            start, end = os.path.splitext(name)[0], os.path.splitext(target or name)[0]
            if start != end and not tree.allowed("circles", name, path):
                arrows.setdefault((start, end), (name, number, path))
    count = 0
    while count != len(arrows):  # drops what leads nowhere, or is led to from nowhere, before the slow search
        count = len(arrows)
        starts, ends = {start for start, _ in arrows}, {end for _, end in arrows}
        arrows = {arrow: at for arrow, at in arrows.items() if arrow[1] in starts and arrow[0] in ends}
    for (start, end), (name, number, path) in sorted(arrows.items()):
        way = shortest_way(arrows, end, start)
        if way:
            yield name, number, f"{path}: makes a circle of files: {' -> '.join([start, *way])}; move what both need " \
                "to a header of its own"


def shortest_way(arrows, start, end):
    """The rooms or files from `start` to `end` along the arrows, both included, or nothing."""
    ways = [[start]]
    seen = {start}
    while ways:
        way = ways.pop(0)
        if way[-1] == end:
            return way
        for first, second in sorted(arrows):
            if first == way[-1] and second not in seen:
                seen.add(second)
                ways.append([*way, second])
    return None


def rule_public(tree):
    """Public headers: the standard library, public kgen headers, nlohmann/json_fwd.hpp. No macro but the guard."""
    foreign = re.compile(r"^(boost|openssl|nghttp2|re2|llvm|clang|gtest|gmock|simdjson|sys|netinet|arpa)/|^(yaml|unistd)\.h$")
    public = set(tree.under("runtime/include/", suffixes=(".h",)))
    for name in tree.under("runtime/include/", "generated/", suffixes=(".h",)):
        generated = name.startswith("generated/")
        for number, bracket, path in tree.includes(name):
            if re.match(r"g(test|mock)/", path) and layer_of(name) == "testing":
                continue  # matchers for the user's own gtest programs
            if foreign.match(path):
                yield name, number, f"{path}: not in a public header"
            elif path.startswith("nlohmann/") and path != "nlohmann/json_fwd.hpp":
                yield name, number, f"{path}: a public header may include nlohmann/json_fwd.hpp only"
            elif bracket == '"' and path.startswith("kgen/"):
                if f"runtime/include/{path}" not in public:
                    yield name, number, f"{path}: no such public header"
            elif bracket == '"' and not generated:
                yield name, number, f"{path}: a public header includes public kgen headers by their full path"
        for number, text in tree.code(name):
            macro = re.match(r"\s*#\s*define\s+(\w+)", text)
            if macro and not macro.group(1).endswith("_H_") and not tree.allowed("public", name, macro.group(1)):
                yield name, number, f"{macro.group(1)}: public headers define no macro"


def rule_guide(tree):
    """The guide to the public headers names each of them, and no other."""
    guide = "runtime/include/kgen/README.md"
    if guide not in tree.files:
        return
    pattern = re.compile(r"`((?!k8s/)\w+/\w+\.h)`")
    named = {name: number for number, line in enumerate(tree.lines(guide), 1) for name in pattern.findall(line)}
    folder = "runtime/include/kgen/"
    headers = {name.removeprefix(folder) for name in tree.under(folder, suffixes=(".h",))}
    for name in sorted(headers - named.keys()):
        yield guide, 1, f"does not name {name}"
    for name in sorted(named.keys() - headers):
        yield guide, named[name], f"{name}: no such public header"


def rule_reach(tree):
    """What generated/k8s/informers.h reaches does without the standard headers that are slow to compile."""
    slow = {"mutex", "map", "memory", "thread"}
    start = "generated/k8s/informers.h"
    todo, seen = [start] if start in tree.files else [], set()
    while todo:
        name = todo.pop()
        if name in seen or name not in tree.files:
            continue
        seen.add(name)
        for number, bracket, path in tree.includes(name):
            if bracket == "<" and path in slow:
                yield name, number, f"<{path}>: {start} reaches this header"
            elif bracket == '"':
                todo += [f"runtime/include/{path}", f"generated/{path}"]


def words(tree, rule, folders, patterns):
    for name in tree.under(*folders):
        for number, text in tree.code(name):
            for pattern, message in patterns:
                found = re.search(pattern, text)
                if found and not tree.allowed(rule, name, found.group(0).replace(" ", "")):
                    yield name, number, f"{found.group(0).strip()}: {message}"


def rule_blocking(tree):
    """The Waiter is the only blocking primitive, and a mutex is one that Clang checks."""
    message = "block with a kgen::Waiter instead"
    return words(tree, "blocking", ("runtime/", "generated/"), [
        (r"\bcondition_variable(_any)?\b", message),
        (r"\bstd::(future|shared_future|promise|packaged_task|async|latch|barrier|counting_semaphore|binary_semaphore)\b",
         message),
        (r"#\s*include\s*<(condition_variable|future|latch|barrier|semaphore)>", message),
        (r"\bstd::\w*mutex\b", "use the Mutex of core/memory/mutex.h, which says what it guards"),
        (r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|(?<![\w.>])sleep\s*\(", message),
        (r"\bstd::j?thread\b(?!::id|::hardware_concurrency)", "threads belong to the executor and the connection"),
        (r"\bwhile\s*\(\s*!?\s*\w*stop\w*\.stop_requested\(\)\s*\)", "a loop on a stop token; " + message),
    ])


def rule_clock(tree):
    """Time and chance come through kgen::Clock and the executor, so that a seed decides them."""
    return words(tree, "clock", ("runtime/", "generated/"), [
        (r"\b(steady|system|high_resolution|utc)_clock::now\b", "read the kgen::Clock instead"),
        (r"\bstd::(time|clock)\s*\(|\b(gettimeofday|clock_gettime)\b", "read the kgen::Clock instead"),
        (r"\b(std::random_device|std::rand|getrandom)\b", "chance comes from the executor's seed"),
    ])


def rule_timers(tree):
    """A function that the clock calls cannot handle a failure, so it must not allocate, as Executor::Post() does."""
    layers = tuple(f"runtime/src/{layer}/" for layer in LAYERS if layer != "testing")
    return words(tree, "timers", layers, [
        (r"\bclock\w*(\(\))?\s*(->|\.)\s*(At|After)\(", "set the timer with core/post_timer.h, which reserves the post"),
    ])


def rule_length(tree):
    """Short files."""
    for name in tree.under("", suffixes=CXX + (".cmake", ".sh", ".py", ".go", ".mustache", "CMakeLists.txt")):
        if name.startswith(("generated/", "tests/golden/")) or tree.allowed("length", name):
            continue
        count = len(tree.lines(name))
        if count > MAX_LINES:
            yield name, count, f"{count} lines; at most {MAX_LINES}"


def rule_copyright(tree):
    """Every source says whose it is, in its first line (the second after #!, the third after a constraint of Go's)."""
    for name in tree.under("", suffixes=CXX + (".cmake", ".sh", ".py", ".go", "CMakeLists.txt", ".ci/run", "dev")):
        if os.path.basename(name) == "dev" and name != "dev" or name.startswith("tests/golden/"):
            continue
        constrained = "".join(tree.lines(name)[:1]).startswith("//go:build")
        if not any(COPYRIGHT in line for line in tree.lines(name)[: 3 if constrained else 2]):
            yield name, 1, f"the first line should be: {COPYRIGHT}"


def rule_workplace(tree):
    """No path of a particular machine."""
    pattern = re.compile(r"(?<![\w.}$)])/(wor" + r"k|tm" + r"p|hom" + r"e|roo" + r"t)/")
    for name in tree.files:
        if name.endswith((".json", ".yaml", ".sum", ".bin", ".gz")) or "/corpus/" in name:
            continue
        for number, line in enumerate(tree.lines(name), 1):
            found = pattern.search(line)
            if found and not tree.allowed("workplace", name):
                yield name, number, f"{found.group(0)}: a path of somebody's machine"


def rule_templates(tree):
    """templates/README.md lists every variable that a template uses."""
    tag = re.compile(r"{{\s*[#^/&]?\s*([A-Za-z_][\w.]*)\s*}}")
    readme = "templates/README.md"
    known = set()
    if readme in tree.files:
        known = {name for line in tree.lines(readme) for name in re.findall(r"`([A-Za-z_][\w.]*)`", line)}
    for name in tree.under("templates/", suffixes=(".mustache",)):
        for number, line in enumerate(tree.lines(name), 1):
            for variable in tag.findall(line):
                if variable not in known:
                    yield name, number, f"{variable}: not listed in {readme}"


CONTRACT = r"(?:INF|GEN|CLI|CTL|COD)"
# The item of a contract as it was once cited: GEN OUT-01, TRN-10, D9. A lone item counts only in brackets: a text may
# well say UTF-8 or RFC-3339.
ITEMS = re.compile(
    rf"\[(?:{CONTRACT} [A-Z]|[A-Z][A-Z0-9]{{0,4}}-\d{{1,2}}\b|[DILQSX]\d{{1,2}}(?=[\],;]))[^\]]*\]?"
    rf"|\b{CONTRACT} [A-Z]{{1,5}}-\d{{1,2}}\b|\(D\d{{1,2}}\)"
)
TEST_NAME = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*\w+,\s*(\w+)")


ABSENT = re.compile(r"<!-- absent: ([^>]+) -->")
LACKS = re.compile(r"// .*\blacks the following\.")


def statements_of_missing(lines, is_header):
    """(index of the line, text) of each statement that something is missing: in Markdown the items under the heading
    "Not implemented yet" and the lines and cells that begin with "Missing:", in a header the items after the sentence
    that ends with "lacks the following."."""
    bullet, opening = ("// * ", LACKS) if is_header else ("* ", re.compile(r"#+ Not implemented yet$"))
    start = next((i for i, line in enumerate(lines) if opening.match(line)), len(lines))
    ends = (lambda line: not line.startswith("//")) if is_header else (lambda line: line.startswith("#"))
    end = next((i for i in range(start + 1, len(lines)) if ends(lines[i])), len(lines))
    items = [i for i in range(start, end) if lines[i].startswith(bullet)] + [end]
    for first, after in zip(items, items[1:]):
        yield first, " ".join(lines[first:after])
    if not is_header:
        yield from ((i, line) for i, line in enumerate(lines) if re.match(r"(\|.*\| )?Missing:", line))


def rule_missing(tree):
    """A statement that something is missing does not outlive what it says: each one names, in a comment, what must not
    exist. In Markdown these are headers or symbols of the public headers; `Struct::member` looks for the member in the
    headers that have the struct. In a public header they are words, also of string literals, in the code of its layer,
    because the lists there say what a part of the library cannot do."""
    headers = tree.under("runtime/include/", suffixes=(".h",))
    words_of = {name: {word for _, text in tree.code(name) for word in re.findall(r"\w+", text)} for name in headers}

    def is_public(word):
        *scope, symbol = word.split("::")
        return any(h.endswith("/" + word) or set(scope) | {symbol} <= words_of[h] for h in headers)

    def is_in_layer(layer, word):
        names = tree.under(f"runtime/src/{layer}/", f"runtime/include/kgen/{layer}/")
        found = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        return any(found.search(re.sub(r"(^|\s)//.*", "", line)) for name in names for line in tree.lines(name))

    for name in headers + tree.under("", suffixes=(".md",)):
        is_header = name in words_of
        exists = functools.partial(is_in_layer, name.split("/")[3]) if is_header else is_public
        for first, text in statements_of_missing(tree.lines(name), is_header):
            marks = ABSENT.findall(text)
            if not marks:
                yield name, first + 1, "an item without <!-- absent: ... --> names nothing that must not exist"
            for word in " ".join(marks).split():
                if exists(word):
                    yield name, first + 1, f"{word} exists now; say what is still missing"


def rule_ids(tree):
    """A comment says the thing and not its number, and the name of a test is a sentence: items of contracts stand in
    the comment above a test only."""
    for name in tree.under("", suffixes=CXX + (".cmake", ".sh", ".py", ".go", ".mustache", "CMakeLists.txt")):
        if name.startswith(("generated/", "tests/golden/")) or tree.allowed("ids", name):
            continue
        for number, line in enumerate(tree.lines(name), 1):
            found = ITEMS.search(line)
            if found and name not in ("tools/lint/text_rules.py", "tests/lint/lint_test.sh"):
                yield name, number, f"{found.group(0)}: say the thing itself; only '// Contract: ...' names an item"
            test = TEST_NAME.match(line)
            if test and "_" in test.group(1):
                yield name, number, f"{test.group(1)}: the name of a test is a sentence, without '_' and ids"


def described_by(tree, name):
    """The types and members, "Type" and "Type.member", that a file of descriptions/ has. It is in block style."""
    found, type_name, inside = set(), "", False
    for line in tree.lines(name):
        key = re.match(r"""( *)["']?([$\w.-]+)["']?:""", line)
        if not key:
            continue
        if key.group(1) == "":
            type_name = key.group(2)
        elif key.group(1) == "  ":
            inside = key.group(2) == "members"
            if key.group(2) == "text":
                found.add(type_name)
        elif key.group(1) == "    " and inside:
            found.add(type_name + "." + key.group(2))
    return found


def undescribed(tree, folder):
    """How many types and members of each group version have no description, as in {"apps.v1": 3}."""
    types = collections.defaultdict(dict)
    for name in tree.under(folder + "/", suffixes=(".json",)):
        with open(os.path.join(tree.root, name), encoding="utf-8") as file:
            for definition, schema in json.load(file)["components"]["schemas"].items():
                *package, type_name = definition.split(".")
                types[".".join(package[-2:])][type_name] = schema.get("properties", {})
    counts = {}
    for version, schemas in types.items():
        file = f"{folder}/descriptions/{version}.yaml"
        described = described_by(tree, file) if file in tree.files else set()
        wanted = set()
        for type_name, members in schemas.items():
            kind = {"kind", "metadata"} <= set(members)
            if kind and "items" in members and type_name.endswith("List"):
                continue  # by rule, as are these members of a kind
            by_rule = {"apiVersion", "kind", "metadata"} if kind else set()
            wanted |= {type_name} | {f"{type_name}.{member}" for member in set(members) - by_rule}
        counts[version] = len(wanted - described)
    return counts


MEMBER = re.compile(r"^  (?!using |static |friend |struct |const )\w[\w:<>, ]* (\w+)(?:\{.*\};| =(?: .*;)?)$")


def badly_commented(tree):
    """Structs and members of generated headers without a comment above them, and comments that the generator has cut."""
    for name in tree.under("generated/", "runtime/", suffixes=(".h",)):
        lines = tree.lines(name)
        if not any("Code generated by kgen" in line for line in lines[:3]):
            continue
        for number, line in enumerate(lines, 1):
            found = re.match(r"struct (\w+) \{", line) or MEMBER.match(line)
            if found and found.group(1) != "unknown_fields" and not lines[number - 2].lstrip().startswith("//"):
                yield name, number, f"{found.group(1)} has no comment"
            if re.match(r"\s*//.*\.\.\.(?=[\s`]|$)", line):
                yield name, number, "the comment is cut; shorten the description"


def badly_described(tree, folder):
    """Descriptions of more than two sentences, and descriptions that occur so often that they belong to shared.yaml."""
    seen = collections.Counter()
    for name in tree.under(folder + "/descriptions/", suffixes=(".yaml",)):
        for number, line in enumerate(tree.lines(name), 1):
            found = re.search(r"\btext: (.*)", line)
            text = found.group(1).strip('"}') if found else ""
            count = len(re.findall(r"[.!?](?= [A-Z0-9\"`(]|$)", text))
            seen[text] += 1
            if count > 2:
                yield name, number, f"{count} sentences; a description has at most two"
            if text and seen[text] == 3:
                yield name, number, "the description occurs three times; write it once, in shared.yaml"


def rule_described(tree):
    """Types and members of the built-in API have descriptions. openapi/undescribed.txt has how many do not; the number
    only falls. Each description is short, and fits into the comment of its member."""
    yield from badly_commented(tree)
    listed = "openapi/undescribed.txt"
    rows = tree.lines(listed) if listed in tree.files else []
    allowed = {row.split()[0]: (int(row.split()[1]), i) for i, row in enumerate(rows, 1) if row and row[0] != "#"}
    for folder in sorted({name.rsplit("/", 1)[0] for name in tree.under("openapi/kubernetes-", suffixes=(".json",))}):
        yield from badly_described(tree, folder)
        for version, count in sorted(undescribed(tree, folder).items()):
            most, line = allowed.pop(version, (0, 1))
            if count > most:
                message = f"{count} types and members have no description, {most} may; write {folder}/descriptions/"
                yield listed, line, f"{version}: {message}{version}.yaml"
            elif count < most:
                fix = f"s/^{version} .*/{version} {count}/" if count else f"/^{version} /d"
                yield listed, line, f"{version}: only {count} have no description now: sed -i '{fix}' {listed}"
    for version, (_, line) in allowed.items():
        yield listed, line, f"{version}: no document has this group version; remove the line"


COMMENT = {".h": "//", ".cc": "//", ".go": "//", ".mustache": "//", ".cmake": "#", ".sh": "#", ".py": "#", "CMakeLists.txt": "#"}
LEANING = [
    (r"\b[Tt](?:hat|hose)\sof\b", "say the noun again, or use a genitive"),
    (r"^(?:The same|Of)\b", "a comment is a sentence of its own, and does not lean on its neighbour"),
]


def prose(tree, name):
    """(first line, lines) of each block of comment, each paragraph of a page, each text of a description."""
    mark = next((COMMENT[end] for end in COMMENT if name.endswith(end)), None)
    whole = rf"\s*{mark} (.*)" if mark else r".*\btext: \"?(.*)" if name.endswith(".yaml") else r"\s*(\S.*)"
    block = []
    for number, line in enumerate([*tree.lines(name), ""], 1):
        found = re.match(whole, line)
        if found:
            block.append(found.group(1))
            continue
        if block:
            yield number - len(block), block
            block = []
        trailing = re.search(r"""(?<![:"'/])// (.*)""", line) if mark == "//" else None
        if trailing:
            yield number, [trailing.group(1)]


def rule_english(tree):
    """Comments, pages and descriptions are sentences that a reader understands alone."""
    names = tree.under("", suffixes=(*COMMENT, ".md")) + tree.under("openapi/", suffixes=(".yaml",))
    for name in names:
        if name.startswith(("generated/", "tests/golden/")) or "Code generated by kgen" in "".join(tree.lines(name)[:3]):
            continue
        for start, lines in prose(tree, name):
            text = "\n".join(lines)
            for pattern, message in LEANING[:1] if name.endswith(".md") else LEANING:  # a page is read in order
                found = re.search(pattern, text)
                if found and not tree.allowed("english", name):
                    words = " ".join(found.group(0).split())
                    yield name, start + text[: found.start()].count("\n"), f"{words}: {message}"


RULES = {name[5:]: value for name, value in list(globals().items()) if name.startswith("rule_")}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in RULES:
        sys.exit(f"usage: text_rules.py RULE [ROOT]; rules: {' '.join(RULES)}")
    findings = list(RULES[sys.argv[1]](Tree(sys.argv[2] if len(sys.argv) > 2 else ".")))
    for name, number, message in findings:
        print(f"{name}:{number}: {message}")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
