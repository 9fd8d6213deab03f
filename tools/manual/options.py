# SPDX-License-Identifier: Apache-2.0
"""The options of programs: those that they take, as their sources say, and what
--help says about them, for their pages.
"""
import re
import textwrap

import mdoc

FOLDERS = ["programs", "diag", "core/examples"]
TABLE = re.compile(r"struct option \w+\[\] = \{(.*?)\n\s*\};", re.S)
HELP = re.compile(r"\b(?:help|usage)\[\] =(.*?);\n\n", re.S)
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
HEAD = re.compile(r"[A-Z]+(, .*)?$")
ROW = re.compile(r" {2}(?: {4}|(-\w), )--([\w-]+)(?: ([\w:]+))?  +(\S.*)$")
NAME = re.compile(r"--([a-z][\w-]*)")
ALL_HAVE = {"help", "version"}


def source_of(root, program):
    """The sources of sennit-PROGRAM."""
    name = program.replace("sennit-", "")
    return "\n".join(p.read_text() for f in FOLDERS
                     for p in sorted((root / f / name).glob("*.c")))


def taken(source):
    """Names of long options."""
    table = TABLE.search(source)
    names = set(re.findall(r'\{ "([\w-]+)"', table[1])) if table else set()
    return names - ALL_HAVE


def help_of(source):
    found = HELP.search(source)
    text = "".join(TEXT.findall(found[1])) if found else ""
    return text.replace("\\n", "\n")


def said(source):
    """Each section of the help that has options: its head, and for each option
    its short and long name, its argument and the text."""
    sections = [("", [])]
    for line in help_of(source).split("\n"):
        head, row = HEAD.match(line), ROW.match(line)
        if head:
            sections.append((line, []))
        elif row and row[2] not in ALL_HAVE:
            sections[-1][1].append(list(row.groups()))
        elif line.startswith(" " * 9) and sections[-1][1]:
            sections[-1][1][-1][3] += " " + line.strip()
    return [s for s in sections if s[1]]


def rows(source):
    """The sections and their options, as lines of the page."""
    out = []
    for head, options in said(source):
        name, _, more = head.partition(", ")
        out += [".Sh " + name, *([mdoc.escape(more.capitalize() + ":")]
                                 if more else []), ".Bl -tag -width indent"]
        for short, long, argument, text in options:
            out += [".It %sFl -%s%s" % (
                "Fl %s , " % short[1:] if short else "", long,
                " Ar " + argument.lower() if argument else "")]
            out += mdoc.literal(textwrap.wrap(text, 66))
        out += [".El"]
    return out


def missing(root, pages):
    """Options that a page or the help does not name, or that a page names and
    that there are not, a line each. `pages`: the page of each program."""
    for program, page in sorted(pages.items()):
        source = source_of(root, program)
        options, helped = taken(source), set(NAME.findall(help_of(source)))
        named = set(NAME.findall(re.sub(r"Fl -(?=[a-z])", "--", page)))
        if not options:
            continue
        for name in sorted(options - named):
            yield "docs/man/%s.1: has no --%s" % (program, name)
        for name in sorted(named - options - ALL_HAVE):
            yield "docs/man/%s.1: there is no --%s" % (program, name)
        for name in sorted(options - helped):
            yield "%s --help: has no --%s" % (program, name)
