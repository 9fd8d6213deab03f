# SPDX-License-Identifier: Apache-2.0
"""Reads the public headers: what each declares, and the contract comment above.

A header is a row of parts. A part is a comment at the left margin with the
declarations below it, up to an empty line. A comment without declarations is a
remark. The comment of a call ends with its contract line:

    From: fiber, thread.  Blocks: no.

Names that end in an underscore are the library's own and are left out.
"""

import re

import installed

SECTION = re.compile(r"^-{3} (.*?) -+$")
CONTRACT = re.compile(r"From:\s*(.*?)\.?\s+Blocks:\s*(.*?)\.?\s*$", re.S)
DECLARED = re.compile(r"(sennit_\w+)\s*\(")
NAMED = re.compile(r"^(?:#define|(?:typedef )?(?:enum|struct|union)|typedef)\b"
                   r"[^{(;]*?\b(sennit_\w+|SENNIT_\w+)", re.M)


class Part:
    """A comment and what it is about. Of a call: `prototypes` by name."""

    def __init__(self, comment, code):
        self.comment = comment
        self.code = code
        self.prototypes = {}
        self.origin = self.blocks = None
        self.text = comment
        at = comment.rfind("From:")
        found = CONTRACT.match(comment[at:]) if at >= 0 else None
        if found:
            self.origin, self.blocks = (" ".join(g.split())
                                        for g in found.groups())
            self.text = comment[:at].rstrip()
        self._read_calls()

    def _read_calls(self):
        if self.code.startswith("#"):
            return
        code = re.sub(r"/\*.*?\*/", "", self.code, flags=re.S)
        if "static inline" in code:
            statements = [code.split("{")[0].replace("static inline ", "")]
        else:
            statements = [s for s in code.split(";") if "SENNIT_API " in s]
        for statement in statements:
            statement = re.sub(r"\b(SENNIT_API|SENNIT_MUST_USE|extern)\b", "",
                               statement)
            statement = " ".join(statement.split())
            found = DECLARED.search(statement)
            name = (found.group(1) if found
                    else statement.split()[-1].lstrip("*"))
            if not name.endswith("_"):
                self.prototypes[name] = statement

    @property
    def names(self):
        return list(self.prototypes)

    @property
    def type_names(self):
        if not self.code.startswith("#") and re.search(
                "SENNIT_API|SENNIT_INLINE_|static inline", self.code):
            return []
        names = NAMED.findall(self.code)
        names += re.findall(r"^typedef [^{;]*\b(sennit_\w+)\(", self.code,
                            re.M)
        return [n for n in dict.fromkeys(names) if not n.endswith("_")]


class Header:
    """`path` is as in #include, `source` in the tree. `title` is one sentence,
    `text` the rest."""

    def __init__(self, path, source, lines):
        self.path = path
        self.source = source
        self.stem = path.split("/")[-1][:-2]
        comments = list(_parts(lines))
        head = comments[0].comment
        first, _, rest = head.partition("\n\n")
        first = " ".join(first.split()).split(" - ", 1)[-1]
        self.title, _, more = first.partition(". ")
        self.title = self.title.rstrip(".")
        self.text = "\n\n".join(t for t in (more, rest) if t)
        product = source.parts[0]
        self.library = "libsennit" if product in ("core", "cpp") else \
            "libsennit-" + product
        self.parts = comments[1:]

    @property
    def calls(self):
        return [p for p in self.parts if p.prototypes]


def _uncomment(lines):
    text = "\n".join(lines)
    text = re.sub(r"^/\* ?|\s*\*/$", "", text)
    return "\n".join(re.sub(r"^ \* ?", "", line).rstrip()
                     for line in text.split("\n")).strip("\n")


def _parts(lines):
    """Yields the parts of a header, the first of them its head comment."""
    comment, code, depth, at = "", [], 0, 0
    lines = [line for line in lines if not re.match(
        r"/\* (SPDX|clang-format)|#(ifndef|ifdef|include|endif|if|else|undef)"
        r"|#define SENNIT_\w+_H$|SENNIT_(BEGIN|END)$", line)] + [""]
    while at < len(lines):
        line = lines[at]
        if line.startswith("/*") and depth == 0:
            if comment or code:
                yield Part(comment, "\n".join(code))
            comment, code = [], []
            while True:
                comment.append(lines[at])
                if lines[at].rstrip().endswith("*/"):
                    break
                at += 1
            comment = _uncomment(comment)
        elif line == "" and depth == 0:
            if comment or code:
                yield Part(comment, "\n".join(code))
            comment, code = "", []
        else:
            bare = re.sub(r'/\*.*?\*/|"[^"]*"', "", line)
            depth += bare.count("{") - bare.count("}")
            code.append(line)
        at += 1


def read(root):
    """All headers that have a head comment, in the order of their names."""
    headers = []
    for name, path in installed.below("include", "*.h", root):
        name = name[len("include/"):]
        if not name.startswith("compat/"):
            headers.append(Header(name, path.relative_to(root), installed.text(
                path.read_text()).split("\n")))
    return headers
