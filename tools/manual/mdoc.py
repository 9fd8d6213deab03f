# SPDX-License-Identifier: Apache-2.0
"""Turns the text of a contract comment into mdoc(7).

Known are paragraphs, lists of lines that begin with "  - ", and code: lines
that begin with a tab. Names in the text become cross references, constants and
arguments.
"""

import re
import textwrap

ITEM = re.compile(r"^ *- ")
SENTENCE = re.compile(r"(?<=[.:?!;])(?<!\.\.\.) +|(?<=[.:?!;][)\"]) +")
TOKEN = re.compile(
    r"(?P<open>[(\"'\[]*)"
    r"(?P<name>sennit_[a-z0-9_]+|SENNIT_[A-Z0-9_]+|-E[A-Z0-9]+"
    r"|`[^`]*`|\*[a-z_]+|[a-z_0-9]+\.h|[A-Za-z_0-9]+(?=\(\)))"
    r"(?P<call>\(\))?(?P<owner>'s)?"
    r"(?P<close>[,.:;)\"'\]?!]*)$")


def escape(text):
    """Escape prose. A hyphen in a word stays one; any other is a minus."""
    text = text.replace("\\", "\\e")
    return re.sub(r"(?<![A-Za-z0-9])-|-(?![A-Za-z])", r"\\-", text)


def literal(lines):
    for text, as_is in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"),
                        ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")):
        lines = [line.replace(text, as_is) for line in lines]
    return ["\\&" + line if line[:1] == "." else line.rstrip()
            for line in lines]


def code(lines):
    return [".Bd -literal -offset indent", *literal(lines), ".Ed"]


class Writer:
    """calls: those that have a page in section 3. headers: the overview in
    section 7 of each header. own: names that the page itself explains.
    arguments: of the call that it explains."""

    def __init__(self, calls, headers, own=(), arguments=()):
        self.calls = calls
        self.headers = headers
        self.own = own
        self.arguments = arguments

    def macro(self, name, called):
        """The macro for a word, or None."""
        if name in self.calls:
            return ("Fn %s" if name in self.own else "Xr %s 3") % name
        if name in self.headers and name not in self.own:
            return "Xr %s 7" % self.headers[name]
        if name.startswith("SENNIT_"):
            return "Dv " + name
        if name.startswith("-E"):
            return "Er " + escape(name)
        if name.startswith("sennit_"):
            return ("Fn " if called else "Vt ") + name
        if called:
            return "Fn " + name
        bare = name.strip("`*")
        if bare in self.arguments or name[0] == "`" and re.match(
                r"\w+$", bare):
            return "Fa " + name.strip("`")
        return None

    def sentence(self, text):
        """The lines of one sentence."""
        out, words = [], []

        def flush():
            if words:
                lines = textwrap.wrap(" ".join(words), 74,
                                      break_long_words=False,
                                      break_on_hyphens=False)
                out.extend("\\&" + line if line[0] in ".'" else line
                           for line in lines)
                words.clear()

        for word in text.split():
            found = TOKEN.match(word)
            macro = found and self.macro(found["name"], found["call"])
            if not macro:
                words.append(escape(word))
                continue
            flush()
            close = " ".join(found["close"])
            line = macro + (" Ns 's" if found["owner"] else "")
            line += " " + close if close else ""
            line = line.replace('"', "\\(dq")
            if found["open"]:
                opening = escape(found["open"]).replace('"', "\\(dq")
                line = "Pf %s %s" % (opening, line)
            out.append("." + line)
        flush()
        return out

    def prose(self, text):
        out = []
        for sentence in SENTENCE.split(" ".join(text.split())):
            out += self.sentence(sentence)
        return out

    def paragraph(self, lines):
        """Prose with lists and code in it, as mdoc lines."""
        out, at = [], 0
        while at < len(lines):
            begin = at
            if lines[at].startswith("\t"):
                while at < len(lines) and lines[at].startswith(("\t", " ")):
                    at += 1
                block = textwrap.dedent("\n".join(lines[begin:at]))
                out += code(block.split("\n"))
            elif ITEM.match(lines[at]):
                out.append(".Bl -dash -compact")
                while at < len(lines) and ITEM.match(lines[at]):
                    item = [ITEM.sub("", lines[at])]
                    at += 1
                    while at < len(lines) and lines[at].startswith("   "):
                        item.append(lines[at])
                        at += 1
                    out += [".It", *self.prose(" ".join(item))]
                out.append(".El")
            else:
                while at < len(lines) and not (
                        lines[at].startswith("\t") or ITEM.match(lines[at])):
                    at += 1
                out += self.prose(" ".join(lines[begin:at]))
        return out

    def text(self, text):
        """A whole comment. Empty lines in code belong to it."""
        lines = text.split("\n")
        for i in range(1, len(lines) - 1):
            if lines[i] == "" and lines[i - 1].startswith("\t") and \
                    lines[i + 1].startswith("\t"):
                lines[i] = "\t"
        out, block = [], []
        for line in lines + [""]:
            if line:
                block.append(line)
            elif block:
                new = self.paragraph(block)
                if out and new[0] != ".Bd -literal -offset indent":
                    out.append(".Pp")
                out += new
                block = []
        return out
