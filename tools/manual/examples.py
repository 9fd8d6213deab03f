# SPDX-License-Identifier: Apache-2.0
"""Finds, for a name of the interface, the function that shows it best in the
example programs, which are compiled and run by tests.

Best is a short function. Of a long one the lines around the name are shown. The
programs of examples/calls come later: they show calls that larger ones do not
need. Last come those of examples/debug, which show mistakes. Programs for other
libraries are left out. Programs are named by their place below
share/doc/sennit.
"""

import re

import installed

LEFT_OUT = ("/marl/", "_before.")
WANTED, MOST = 10, 16
NAME = re.compile(r"\b(?:sennit|SENNIT)_\w+\b")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)


class Function:
    """`lines` is the text, with the comment above. `names`: what of the
    interface each line uses."""

    def __init__(self, path, lines, start):
        self.path = path
        self.lines = lines
        self.start = start
        code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]),
                           "\n".join(lines)).split("\n")
        self.names = [set(NAME.findall(line)) for line in code]
        self.used = set().union(*self.names)

    def rank(self, wanted):
        """The smallest function that uses `wanted`."""
        length = len(self.lines) - self.start
        short = length < 5
        kind = ("/calls/" in self.path) + 2 * ("/debug/" in self.path)
        return (short, length > MOST, kind, -len(wanted & self.used),
                abs(length - WANTED), self.path)

    def excerpt(self, wanted):
        """The whole function, or its head and the lines around a use."""
        if len(self.lines) <= MOST:
            return self.lines
        body = next(i for i, line in enumerate(self.lines) if line == "{") + 1
        head, last = self.lines[self.start:body], len(self.lines) - 1
        if len(self.lines) - self.start <= MOST:
            return self.lines[self.start:]
        at = next((i for i, n in enumerate(self.names)
                   if wanted & n and i >= body), body)
        first, end = max(body, at - 4), min(last, at + 6)
        if "" not in self.lines[body:first]: # amid declarations
            gap = next((i for i in range(body, at) if not self.lines[i]), at)
            first = body if at - body <= 8 else max(first, gap + 1)
        while first < at and not whole(self.lines, body, first):
            first += 1
        while end < last and not whole(self.lines, body, end):
            end += 1
        return (head + ["\t..."] * (first > body) + self.lines[first:end] +
                ["\t..."] * (end < last) + [self.lines[last]])


def whole(lines, body, at):
    """Whether a statement of the outermost block may begin at this line, or
    the block ends there."""
    before = next((x for x in reversed(lines[body:at]) if x.strip()), "{")
    return re.match(r"\t[^\t }]|}", lines[at]) is not None and \
        re.search(r"([;{}]|\*/)$", before) is not None and \
        lines[at].strip() != "{"


def functions(path, text):
    """The functions of a file whose braces are at the left margin."""
    lines = text.split("\n")
    for opening in (i for i, line in enumerate(lines) if line == "{"):
        end = lines.index("}", opening) if "}" in lines[opening:] else None
        start = opening
        while start > 0 and lines[start - 1] and \
                not re.match(r"[#}]| \*|/\*|.*[;\\]$", lines[start - 1]):
            start -= 1
        comment = start
        if start and lines[start - 1].endswith("*/"):
            comment -= 1
            while not lines[comment].startswith("/*"):
                comment -= 1
        if lines[comment - 2].startswith("SENNIT_FORK_DECLARE"):
            comment -= 2
        if end and comment > 0:
            yield Function(path, lines[comment:end + 1], start - comment)


class Examples:
    """`users`: the functions that use each name. `sources`: the file of the
    tree for each place."""

    def __init__(self, root):
        self.users = {}
        self.files = {}
        self.sources = dict(installed.below("examples", "*.[ch]", root))
        for name, path in self.sources.items():
            text = path.read_text()
            if any(part in name for part in LEFT_OUT):
                continue
            code = COMMENT.sub(" ", text)
            for used in set(NAME.findall(code)):
                self.files.setdefault(used, []).append((len(text), name))
            for function in functions(name, text):
                for used in function.used:
                    self.users.setdefault(used, []).append(function)

    def shown(self, names, most=3):
        """Functions that together use the names, each with its excerpt."""
        left, out = list(names), []
        while left and len(out) < most:
            found = self.users.get(left[0], [])
            if found:
                best = min(found, key=lambda f: f.rank(set(left)))
                out.append((best.path, best.excerpt({left[0]})))
                left = [n for n in left if n not in best.used]
            else:
                left = left[1:]
        return out

    def overview(self, names):
        """One function, which uses many of the names."""
        names = set(names)
        found = {id(f): f for n in names for f in self.users.get(n, [])
                 if len(f.lines) - f.start <= 2 * MOST}
        best = min(found.values(), default=None, key=lambda f: (
            -len(names & f.used) / (len(f.lines) + WANTED), f.path))
        return [(best.path, best.lines)] if best else []
