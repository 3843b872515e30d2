# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Reads what headers declare, with their comments, through libclang: the compiler decides what is public, and the
text of a declaration is the text of the header, so that `requires`, attributes and defaults stay as they are."""

import dataclasses
import pathlib
import re

from clang import cindex
from clang.cindex import CursorKind as Kind

PRIVATE_NAMESPACES = {"detail", "internal", "controller"}
RECORDS = {
    Kind.STRUCT_DECL: "struct",
    Kind.CLASS_DECL: "class",
    Kind.UNION_DECL: "union",
    Kind.CLASS_TEMPLATE: "class",
    Kind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION: "class",
}
KINDS = RECORDS | {
    Kind.ENUM_DECL: "enum",
    Kind.ENUM_CONSTANT_DECL: "enumerator",
    Kind.CONCEPT_DECL: "concept",
    Kind.FUNCTION_DECL: "function",
    Kind.FUNCTION_TEMPLATE: "function",
    Kind.CXX_METHOD: "function",
    Kind.CONVERSION_FUNCTION: "function",
    Kind.CONSTRUCTOR: "constructor",
    Kind.DESTRUCTOR: "destructor",
    Kind.TYPE_ALIAS_DECL: "alias",
    Kind.TYPE_ALIAS_TEMPLATE_DECL: "alias",
    Kind.TYPEDEF_DECL: "alias",
    Kind.VAR_DECL: "variable",
    Kind.FIELD_DECL: "field",
}
FUNCTIONS = {"function", "constructor", "destructor"}


@dataclasses.dataclass
class Declaration:
    """A public declaration. `covered` says that the comment stands above an earlier declaration of the same group."""

    kind: str
    name: str  # without namespaces and classes
    qualified: str  # kgen::Manager::Run
    header: str  # kgen/controller/manager.h
    line: int
    end: int  # its last line, with the body
    text: str  # as in the header, without a body
    comment: list  # lines without slashes
    covered: bool = False
    overrides: bool = False
    special: bool = False  # defaulted, deleted, copy, move: what the compiler would declare
    children: list = dataclasses.field(default_factory=list)

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()


@dataclasses.dataclass
class Header:
    path: str  # kgen/controller/manager.h
    comment: list
    declarations: list

    def walk(self):
        for declaration in self.declarations:
            yield from declaration.walk()


class Source:
    """The text of a header, by lines."""

    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def offset(self, location):
        return self.starts[location.line - 1] + location.column - 1

    def intro(self):
        """The comment at the top of the header, without the copyright line."""
        lines = []
        for line in self.lines:
            if not line.startswith("//"):
                break
            lines.append(line[2:])
        while lines and (not lines[0].strip() or lines[0].startswith((" Copyright", " Code generated"))):
            del lines[0]
        return lines

    def comment_above(self, line):
        """The comment that ends right above that line (from 1)."""
        first = line - 1
        while first > 0 and self.lines[first - 1].lstrip().startswith("//"):
            first -= 1
        return [text.lstrip()[2:] for text in self.lines[first : line - 1]]

    def comment_behind(self, line):
        """The comment behind code on that line, with the lines below it that only continue it."""
        code, slashes, comment = self.lines[line - 1].partition("//")
        if not slashes or not code.strip() or code.count('"') % 2:
            return []
        lines = [comment]
        for text in self.lines[line:]:
            if text.find("//") != len(code) or text.strip()[:2] != "//":
                break
            lines.append(text.strip()[2:])
        return lines


def without_body(text, position):
    """A function's declaration: `text` up to its body or the list of a constructor's initializers. Its name, after
    which the parameters follow, is at `position`."""
    depth, closed, start = 0, False, position
    while position < len(text):
        char = text[position]
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
            closed = True
        elif char == "{":
            # The first `requires` behind the parameters begins a clause; another one an expression with braces.
            words = list(re.finditer(r"\brequires\b", text[start:position]))
            expression = len(words) > 1 and re.search(r"\brequires\s*(\([^{}]*\))?\s*$", text[start:position])
            if depth == 0 and closed and not expression:
                break
            end, nested = position, 0
            while end < len(text):
                nested += {"{": 1, "}": -1}.get(text[end], 0)
                if nested == 0:
                    break
                end += 1
            position = end
        elif depth == 0 and closed:
            if char == ";":
                break
            if char == ":" and text[position - 1] != ":" and text[position + 1 : position + 2] != ":":
                break
        position += 1
    return re.sub(r"[ \t]+//.*$", "", text[:position], flags=re.M).rstrip()


def dedent(text, columns):
    """Takes away the indentation that the first line had."""
    first, *rest = text.split("\n")
    return "\n".join([first] + [line[columns:] if not line[:columns].strip() else line.lstrip() for line in rest])


class Reader:
    """Reads the headers below a folder. `namespaces` are the ones that are public as a whole."""

    def __init__(self, include, private=PRIVATE_NAMESPACES):
        self.include = pathlib.Path(include).resolve()
        self.private = private
        self.sources = {}

    def read(self, headers, arguments=()):
        """Parses the headers, given as they are included, in one translation unit."""
        text = "".join(f'#include "{header}"\n' for header in headers)
        arguments = ["-std=c++23", f"-I{self.include}", "-fparse-all-comments", *arguments]
        unit = cindex.Index.create().parse(
            "headers.cc",
            args=arguments,
            unsaved_files=[("headers.cc", text)],
            options=cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES,
        )
        errors = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if errors:
            raise SystemExit("the headers do not compile:\n" + "\n".join(errors[:10]))
        result = {}
        for header in headers:
            path = self.include / header
            self.sources[header] = Source(path)
            result[header] = Header(header, self.sources[header].intro(), self.macros(header))
        for declaration in self.namespace(unit.cursor, ""):
            result[declaration.header].declarations.append(declaration)
        for header in result.values():
            header.declarations.sort(key=lambda declaration: declaration.line)
        return list(result.values())

    def header_of(self, cursor):
        """The header of a declaration, as it is included, or None if it is none of those that are read."""
        file = cursor.location.file
        name = file.name.removeprefix(f"{self.include}/") if file else ""
        return name if name in self.sources else None

    def namespace(self, cursor, prefix):
        for child in cursor.get_children():
            if child.kind in (Kind.LINKAGE_SPEC, Kind.UNEXPOSED_DECL):
                continue
            header = self.header_of(child)
            if header is None:
                continue
            if child.kind == Kind.NAMESPACE:
                if child.spelling and child.spelling not in self.private:
                    yield from self.namespace(child, f"{prefix}{child.spelling}::")
            elif prefix:  # nothing of the global namespace
                yield from self.declaration(child, header, prefix)

    def members(self, record, header, prefix):
        for child in record.get_children():
            if child.kind == Kind.CXX_BASE_SPECIFIER:
                base = child.type.get_declaration()
                if child.access_specifier == cindex.AccessSpecifier.PUBLIC and self.is_private(base):
                    yield from self.members(base, self.header_of(base), prefix)
            elif child.access_specifier == cindex.AccessSpecifier.PUBLIC:
                yield from self.declaration(child, header, prefix)

    def is_private(self, cursor):
        parent = cursor.semantic_parent
        return self.header_of(cursor) is not None and parent is not None and parent.spelling in self.private

    def declaration(self, cursor, header, prefix):
        kind = KINDS.get(cursor.kind)
        if kind is None or not cursor.spelling or "(unnamed" in cursor.spelling or "(anonymous" in cursor.spelling:
            return
        if (kind in RECORDS.values() or kind == "enum") and not cursor.is_definition():
            return
        if kind in FUNCTIONS and cursor.semantic_parent != cursor.lexical_parent:
            return  # defined outside of its class
        source = self.sources[header]
        name = cursor.spelling if kind not in ("constructor", "destructor") else cursor.spelling.split("<")[0]
        start, end = cursor.extent.start, cursor.extent.end
        begin = source.starts[start.line - 1]
        before = source.text[begin : source.offset(start)]
        if before.strip() and re.search(r"[;{}]\s*$", before):
            begin = source.offset(start)  # not the first declaration of its line
        text = source.text[begin : source.offset(end)]
        indentation = len(text) - len(text.lstrip())
        line = start.line
        text = dedent(text.lstrip(), indentation)
        result = Declaration(kind, name, prefix + name, header, line, end.line, text, [])
        if kind in FUNCTIONS:
            whole = without_body(source.text[begin:], source.offset(cursor.location) - begin)
            result.text = dedent(whole.lstrip(), indentation)
            result.overrides = bool(re.search(r"\boverride\b|\bfinal\b", result.text.rpartition(")")[2]))
            result.special = is_special(cursor, result.text)
        elif kind in RECORDS.values():
            tag = re.search(r"^(?:template <.*?>\s*(?:requires .*?)?)?(class|struct|union)\b", text, re.S)
            result.kind = tag[1] if tag else kind
            result.text = text[: text.find("{")].rstrip() if "{" in text else text
            result.children = list(self.members(cursor, header, f"{prefix}{name}::"))
        elif kind == "enum":
            for member in cursor.get_children():
                result.children += self.declaration(member, header, f"{prefix}{name}::")
        shown = result.text if kind in RECORDS.values() else text  # a comment may stand behind the brace of a struct
        result.comment = source.comment_above(line) or source.comment_behind(line + shown.count("\n"))
        yield result

    def macros(self, header):
        """The macros that are not about includes, with the comment above them."""
        source, result = self.sources[header], []
        for number, line in enumerate(source.lines, 1):
            match = re.match(r"#define (\w+)(\([^)]*\))?", line)
            comment = source.comment_above(number) if match else []
            if match and comment:
                result.append(Declaration("macro", match[1], match[1], header, number, number, match[0], comment))
        return result


def is_special(cursor, text):
    """Whether the compiler would declare it: default, copy and move constructors, their assignments, destructors."""
    if re.search(r"=\s*delete$", text):
        return True
    if cursor.kind == Kind.DESTRUCTOR:
        return True
    if cursor.kind == Kind.CONSTRUCTOR:
        return (
            cursor.is_default_constructor() or cursor.is_copy_constructor() or cursor.is_move_constructor()
        )
    return cursor.spelling == "operator=" and bool(re.search(r"operator=\((const )?\w+(<[^>]*>)?(&|&&)", text))
