# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Makes Markdown of the comments of headers. A comment is plain text by the conventions of the headers: an empty line
ends a paragraph, a paragraph that is indented is code, `* ` begins an item, a line that begins with "Errors:" or
another label begins a paragraph, and lines with two columns below it are a list of codes and their causes."""

import re

LABELS = ("Thread safety", "Ownership", "Lifetime", "Blocking", "Errors", "Default", "Required", "Units")
LABEL = re.compile(rf"({'|'.join(LABELS)}):(?=\s|$)")
# What is code within a sentence: in backticks already, a path of a header, a qualified name or a template, a call, a
# constant, or a name with an underscore.
CODE = re.compile(
    r"`[^`]+`"
    r"|\bkgen/[\w/]+\.h\b"
    r"|(?:\b[A-Za-z_]\w*::)+~?[A-Za-z_]\w*(?:<[\w:, *]*>)?(?:\(\))?"
    r"|\b[A-Za-z_]\w*<[\w:, *]+>(?:\(\))?"
    r"|\b[A-Za-z_]\w*\(\)"
    r"|\bk[A-Z]\w*"
    r"|\b(?:[a-z0-9]+_)+[a-z0-9_]*\b"
)
CAMEL = re.compile(r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b")


def escape(text):
    """Text that Markdown shows as it is."""
    text = re.sub(r"([\\*_\[\]<>#|$~{}])", r"\\\1", text)
    return re.sub(r"^(\s*)([-+%]|\d+[.)])(?=\s)", r"\1\\\2", text)


def sentence(text, names=frozenset()):
    """A paragraph as Markdown. `names` are the names that are code wherever they stand."""
    result, position = [], 0
    matches = list(CODE.finditer(text))
    taken = [match.span() for match in matches]
    for match in CAMEL.finditer(text):
        if match[0] in names and not any(a <= match.start() < b for a, b in taken):
            matches.append(match)
    for match in sorted(matches, key=lambda m: m.start()):
        result.append(escape(text[position : match.start()]))
        result.append(match[0] if match[0].startswith("`") else f"`{match[0]}`")
        position = match.end()
    result.append(escape(text[position:]))
    return "".join(result).strip()


def indentation(line):
    return len(line) - len(line.lstrip())


def paragraphs(lines):
    """The paragraphs of a comment, as lists of lines; a comment's lines have one space in front of their text."""
    lines = [line[1:] if line.startswith(" ") else line for line in lines]
    chunk = []
    for line in [*lines, ""]:
        if line.strip():
            chunk.append(line.rstrip())
        elif chunk:
            yield chunk
            chunk = []


def split_labels(chunk):
    """Cuts a paragraph where a line begins with a label, or with an item after text."""
    part = []
    for line in chunk:
        if part and (LABEL.match(line) or (line.startswith("* ") and not part[-1].startswith("* "))):
            yield part
            part = []
        part.append(line)
    yield part


def is_table(chunk, label):
    """Whether a paragraph that begins with a label is a list of codes and causes."""
    columns = re.search(r"\S {2,}\S", chunk[0][len(label[0]) :])
    return all(indentation(line) >= 2 for line in chunk[1:]) and bool(columns or len(chunk) > 1)


def cases(chunk, skip):
    """[(code, cause)] of lines with two columns; the first `skip` characters of the first line are a label."""
    lines = [line for line in [" " * skip + chunk[0][skip:], *chunk[1:]] if line.strip()]
    column = indentation(lines[0])
    rows = []
    for line in lines:
        row = re.match(r"(\S.*?)\s{2,}(\S.*)", line.strip())
        if indentation(line) <= column and row:
            rows.append([row[1], row[2]])
        elif rows and indentation(line) > column:
            rows[-1][1] += " " + line.strip()
        else:
            rows.append(["", line.strip()])
    return rows


def rows(pairs, names):
    return "\n".join(f"* {sentence(head, names)}: {sentence(text, names)}" if head else f"* {sentence(text, names)}"
                     for head, text in pairs)


def items(chunk, names):
    """A list, whose items may go on in lines that are indented."""
    result = []
    for line in chunk:
        if line.startswith("* "):
            result.append(line[2:])
        else:
            result[-1] += " " + line.strip()
    return [f"* {sentence(item, names)}" for item in result]


def code(chunk):
    margin = min(indentation(line) for line in chunk)
    text = "\n".join(line[margin:] for line in chunk)
    is_cpp = re.search(r"[;{}]\s*(//.*)?$|::\w+\(|^#include|//", text, re.M)
    return f"```{'cpp' if is_cpp and '-->' not in text else 'text'}\n{text}\n```"


def is_code(chunk):
    return all(indentation(line) >= 2 for line in chunk)


def markdown(lines, names=frozenset()):
    """The comment as Markdown."""
    result = []
    for chunk in paragraphs(lines):
        if is_code(chunk):
            if result and result[-1].startswith("```cpp") and code(chunk).startswith("```cpp"):
                result[-1] = result[-1][:-4] + "\n\n" + code(chunk).split("\n", 1)[1]
            else:
                result.append(code(chunk))
            continue
        for part in split_labels(chunk):
            label = LABEL.match(part[0])
            if part[0].startswith("* "):
                result.append("\n".join(items(part, names)))
            elif label and is_table(part, label):
                result.append(f"**{label[1]}:**\n\n" + rows(cases(part, len(label[0])), names))
            elif label:
                text = " ".join(line.strip() for line in part)[len(label[0]) :]
                result.append(f"**{label[1]}:** {sentence(text, names)}")
            else:
                result.append(text_with_code(part, names))
    return "\n\n".join(block for block in result if block)


def text_with_code(chunk, names):
    """A paragraph. Lines in it that are indented are a list if the text before them ends with a colon, or else code."""
    blocks, lines = [], list(chunk)
    while lines:
        indented = indentation(lines[0]) >= 2
        count = next((i for i, line in enumerate(lines) if (indentation(line) >= 2) != indented), len(lines))
        part, lines = lines[:count], lines[count:]
        if not indented:
            blocks.append(sentence(" ".join(line.strip() for line in part), names))
        elif blocks and blocks[-1].endswith(":"):
            blocks.append(rows(cases(part, 0), names))
        else:
            blocks.append(code(part))
    return "\n\n".join(blocks)
