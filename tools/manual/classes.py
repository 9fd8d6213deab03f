# SPDX-License-Identifier: Apache-2.0
"""Reads the headers for C++: what they declare for programs.

Of each function the declaration is kept and its body left out, of each class
the public part with its comments, and of the namespace detail nothing. The
layout of the tree decides what a line is: a body begins with a brace that
stands alone, and ends with one in the same column.
"""

import re

COMMENT = re.compile(r"\s*/\*.*?\*/\n?", re.S)
CONTAINER = re.compile(r"(template <.*> )?(class|struct|union|namespace)\b")
LIBRARY = re.compile(r"^In (libsennit-[a-z]+)", re.M)
DECLARES = re.compile(r"(template|inline|class|struct|enum)\b")
# What a program neither writes nor reads.
PRIVATE = re.compile(r"(friend|using owner::|(?:class|struct) \w+;|"
                     r"static_assert|SENNIT_CPP_|using detail::|"
                     r"template <typename[^;]*>\s*friend)")


class Classes:
    """A header: `stem` of mutex.hpp is "mutex"."""

    bases = {}  # of classes of the namespace detail: their public parts

    def __init__(self, root, path):
        self.path = "sennit/cpp/" + path.name
        self.stem = path.stem
        text = path.read_text()
        head = re.search(r"/\* %s - (.*?)\*/" % re.escape(path.name), text,
                         re.S)
        words = re.sub(r"^ ?\*(?: |$)?", "", head[1], flags=re.M).strip()
        self.title, _, self.text = words.partition("\n\n")
        self.title = " ".join(self.title.split()).rstrip(".")
        found = LIBRARY.search(self.text)
        self.library = found[1] if found else "libsennit"
        self.is_io = self.library != "libsennit"
        self.lines = [line for line in text[head.end():].split("\n")
                      if not line.startswith("#")]
        self.at = 0
        self.shown = tidy(self.declarations(0, True))

    def end_of(self, indent):
        """Skip a body whose closing brace has this indentation."""
        while not re.match(r"%s\}" % indent, self.lines[self.at]):
            self.at += 1
        self.at += 1

    def declarations(self, depth, public):
        """The lines of a block at this depth, to its closing brace."""
        out, now = [], []  # now: the declaration that is being read
        while self.at < len(self.lines):
            line = self.lines[self.at]
            bare = line.strip()
            indent = line[:len(line) - len(line.lstrip("\t"))]
            self.at += 1
            if re.match(r"\};?$|\} // ", bare) and not opens(now) and \
                    len(indent) < max(depth, 1):
                break
            if bare.endswith("{") and CONTAINER.match(code_of(now + [bare])):
                now.append(line.rstrip("{ "))
                bare = "{"
            if re.match(r"(public|private|protected):$", bare):
                out += now if public else []
                public, now = bare == "public:", []
            elif bare == "{":
                now = [line for line in now if line.strip()]
                block = self.block(indent, now, depth)
                out += block if public else []
                now = []
            elif not bare:
                out += now + [""] if public else []
                now = []
            elif re.match(r" +: \w|\t* {4}[:,] ", line.lstrip("\t")) or \
                    re.match(r"\s*: \w+_?\(", line):
                self.skip_initialisers()
            else:
                now.append(line)
                if bare.endswith(";") and not opens(now):
                    out += now if public else []
                    now = []
        return out + (now if public else [])

    def skip_initialisers(self):
        while self.lines[self.at].strip() != "{":
            self.at += 1

    def block(self, indent, now, depth):
        """What a brace begins, after the lines `now`."""
        words = code_of(now)
        found = CONTAINER.match(words)
        if not found:
            self.end_of(indent)
            return ended(now)
        if found[2] == "namespace":
            inner = self.declarations(0, True)
            return [] if "detail" in words else inner
        inner = self.declarations(depth + 1, found[2] != "class")
        name = re.match(r".*?\b(?:class|struct) (\w+)", words)
        if name:
            self.bases[name[1]] = inner
        base = re.search(r" : public detail::(\w+)", words)
        if base and base[1] in self.bases:
            now = [re.sub(r" : public detail::.*", "", line) for line in now]
            inner = [*(re.sub(r"\b%s\b(?= ?[(&])" % base[1], name[1], line)
                       for line in self.bases[base[1]]), "", *inner]
        public = [indent + "public:"] * (found[2] == "class")
        return now + [indent + "{", *public, *inner, indent + "};"]

    @property
    def names(self):
        """Classes and functions that are declared at the outermost level."""
        found = []
        for line in self.shown:
            name = re.match(r"(?:template <.*> )?(?:class|struct|enum class) "
                            r"(\w+)\b(?!::)(?!.*\w;$)", line)
            if name and name[1] not in found:
                found.append(name[1])
        return found


def code_of(lines):
    """The declaration without comments, on one line."""
    return " ".join(COMMENT.sub("", "\n".join(lines)).split())


def opens(lines):
    """Whether the lines have an open parenthesis or brace."""
    code = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', "",
                  COMMENT.sub("", "\n".join(lines)))
    return code.count("(") > code.count(")") or \
        code.count("{") > code.count("}")


def ended(lines):
    """A declaration whose body was left out. A constructor's initialisers go
    with the body."""
    lines = list(lines)
    for i, line in enumerate(lines):
        if re.match(r"\t* +: \w", line):
            lines = lines[:i]
            break
    if lines:
        lines[-1] = re.sub(r" : \w+_?\(.*", "", lines[-1]) + ";"
    return lines


def tidy(lines):
    """Without declarations that are not for programs, and with single empty
    lines. A comment goes with its declaration."""
    text = "\n".join(lines)
    parts = re.split(r"(?<=[;}])\n|\n(?=\n)|(?<=\{)\n", text)
    kept = []
    for part in parts:
        code = COMMENT.sub("", part).strip()
        if PRIVATE.match(code) or not code and "/*" in part and \
                "--- " in part:
            continue
        kept += part.split("\n")
    out = []
    for line in kept:
        line = line.rstrip()
        if line or out and out[-1] and not out[-1].endswith("{"):
            if line.strip() in ("};", "}") and out and not out[-1]:
                out.pop()
            out.append(line)
    while out and not out[-1]:
        out.pop()
    return out


def read(root):
    """Those that declare something for programs, by name."""
    paths = sorted((root / "cpp/include/sennit/cpp").glob("*.hpp"))
    for _ in range(2):  # bases may be in a header that comes later
        found = [Classes(root, path) for path in paths]
    return [c for c in found if any(DECLARES.match(x) for x in c.shown)]
