#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py OUT - writes the manual into OUT/man1, OUT/man3 and OUT/man7.

Section 3 has a page for each public call and macro, or one for those that share
a comment; the others refer to it by .so. A macro whose name is that of a call,
but for the case, is explained on the page of the call too: man may find either.
Section 7 has an overview of each header, which explains its types, and what
each header for C++ declares. Sections 1 and 7 have the pages of docs/man, in
which @date@, @version@, @headers@ and @classes@ are filled in.

pages.py --check - reports calls whose comment lacks something, such as what
they return, and calls that no program in examples uses. Writes nothing.
"""

import os
import pathlib
import re
import sys
import time

sys.dont_write_bytecode = True

import classes  # noqa: E402
import contracts  # noqa: E402
import errors  # noqa: E402
import examples  # noqa: E402
import installed  # noqa: E402
import mdoc  # noqa: E402
import options  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RETURNS = re.compile(r"(?:^|(?<=[.:;] )|(?<=\n))Returns\s(?=[a-z0-9A-Z*-])")
MACRO = re.compile(r"^#define (SENNIT_\w*[A-Z0-9])\b(\([^)]*\))?", re.M)
KINDS = {"cond": "condition variable", "rwlock": "reader-writer lock",
         "dag": "task graph", "weak": "weak handle"}
LIBRARIES = {
    "libsennit": "sennit",
    "libsennit-io": "sennit\\-io",
    "libsennit-tls": "sennit\\-tls",
    "libsennit-http": "sennit\\-http",
    "libsennit-diag": "sennit\\-diag",
    "libsennit-mpi": "sennit\\-mpi\\-openmpi (or \\-mpich)",
}


def date():
    """The date of the pages: SOURCE_DATE_EPOCH, or that of the version."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch:
        day = time.gmtime(int(epoch))
    else:
        text = (ROOT / "docs/man/date").read_text()
        day = time.strptime(text.strip(), "%d %b %Y")
    return "%s %d, %d" % (
        ("January February March April May June July August September October "
         "November December").split()[day.tm_mon - 1], day.tm_mday, day.tm_year)


def version():
    text = (ROOT / "core/include/sennit/base.h").read_text()
    return ".".join(re.findall(r"#define SENNIT_VERSION_[A-Z]+ (\d+)", text))


def first_sentence(text):
    text = re.sub(r" \([^()]*\)", "", " ".join(text.split()))
    text = re.split(r"(?<=[\w)\]])[.:;](?: |$)", text)[0]
    shorter = text
    while len(shorter) > 100 and "," in shorter:
        shorter = shorter.rsplit(",", 1)[0]
    return (text if shorter.count(" ") < 2 else shorter).rstrip(".")


def short(text):
    """The text of the .Nd line."""
    text = re.sub(r"[*`]", "", first_sentence(text))
    text = re.sub(r"(\w+)\[0(?:\.\.|\] to \1\[)\w+ ?- ?1\]", r"\1", text)
    return text[:1].lower() + text[1:]


class Manual:
    def __init__(self, root=ROOT):
        self.root = root
        self.headers = contracts.read(root)
        self.headers = [h for h in self.headers if h.path != "sennit.h"]
        self.calls = {n: (h, p) for h in self.headers for p in h.calls
                      for n in p.names}
        self.classes = classes.read(root)
        self.overviews = {h.stem + ".h": "sennit_" + h.stem
                          for h in self.headers}
        self.umbrella = set(re.findall(
            r'#include "(.*?)"', (root / "core/include/sennit.h").read_text()))
        self.umbrellas = {
            path: re.findall(r'#include "(sennit/cpp/.*?)"', (
                root / "cpp/include" / path).read_text())
            for path in ("sennit.hpp", "sennit/cpp/io.hpp")}
        self.examples = examples.Examples(root)
        self.errors = errors.Errors(root, self.calls,
                                    lambda text: split_returns(text)[1])
        self.fixed = {"date": date(), "version": version()}
        self.guides = {p.name: p for p in
                       sorted((root / "docs/man").glob("*.[17]"))}
        self.macros = {n: (h, p) for h in self.headers for p in h.parts
                       for n, _ in MACRO.findall(p.code)}
        self.macros.update((n, (h, None)) for h in self.headers
                           for n in self._explained(h) - self.macros.keys())

    def _explained(self, header):
        """Macros that the comment at the head explains, which are defined
        beside others of the library's own, and enumerators."""
        words = set(re.findall(r"\bSENNIT_\w*[A-Z0-9]\b", "\n".join(
            p.code for p in header.parts)))
        return {w for w in words & set(re.findall(r"\bSENNIT_\w+", header.text))
                if re.search(r"#define %s\b" % w, "\n".join(
                    p.code for p in header.parts))}

    def include(self, header):
        inside = header.path in self.umbrella
        return ".In " + ("sennit.h" if inside else header.path)

    def head(self, title, section):
        return [".\\\" SPDX-License-Identifier: Apache-2.0",
                ".\\\" Made from the headers by tools/manual.",
                ".Dd " + self.fixed["date"],
                ".Dt %s %d" % (title.upper(), section),
                ".Os"]

    def library(self, header):
        return [".Sh LIBRARY", "%s (%s, \\-l%s)" % (
            "sennit", header.library.replace("-", "\\-"),
            LIBRARIES[header.library])]

    def see(self, references):
        """references: (section, name)."""
        rows = [".Xr %s %d" % (n, s) for s, n in sorted(set(references))]
        return [".Sh SEE ALSO", *(r + " ," for r in rows[:-1]), rows[-1]]

    def example_lines(self, names, shown):
        """shown: programs and what of them to print."""
        out = []
        for path, lines in shown:
            lines = [re.sub(r"\t", " " * 4, line) for line in lines]
            out += [".Pp"] if out else []
            out += ["From", ".Pa %s :" % path, *mdoc.code(lines)]
        if any("CHECK(" in line for _, lines in shown for line in lines):
            out += [".Fn CHECK condition", "is a macro of the example: it "
                    "ends the program unless the condition holds."]
        printed = [path for path, _ in shown]
        files = {f for n in names for f in self.examples.files.get(n, [])}
        more = [f for _, f in sorted(files) if f not in printed][:4]
        if more:
            out += [".Pp"] if out else []
            out += ["Others:" if printed else "In:"]
            out += [".Bl -item -compact -offset indent"]
            out += [x for name in more for x in (".It", ".Pa " + name)]
            out += [".El"]
        return [".Sh EXAMPLES", *out] if out else []

    def error_lines(self, part, write):
        found = self.errors.of(part.names)
        through = self.errors.system(part)
        others = "negative errno" in " ".join(
            split_returns(part.text)[1].split()) and not through
        if not found and not through and not others:
            return []
        out = [".Sh ERRORS"]
        if found:
            out += [".Bl -tag -width Er"]
        for name, words in found.items():
            bare = words.split()[0].strip("`*,")
            known = bare in write.arguments or "_" in bare
            words = words if known else words[:1].upper() + words[1:]
            out += [".It Bq Er \\-" + name, *write.prose(words + ".")]
        if found:
            out += [".El"]
        if through:
            out += [".Pp"] if found else []
            out += ["Those of the system's"]
            out += [".Fn %s%s" % (n, " ," if n != through[-1] else "")
                    for n in through]
            out += ["come through, as negative numbers."]
        if others:
            out += [".Pp"] if found else []
            out += ["Other errors of the system come through, as negative "
                    "numbers."]
        return out

    def brief(self, part):
        """What .Nd says of a call, in words that apropos finds: objects by
        their kind, and what another call does in place of "like" it."""
        text = short(split_returns(part.text)[0] or part.text)
        found = re.match(r"like (sennit_\w+)(\(\))?,? ?(.*)", text)
        if found and found[1] in self.calls and found[1] not in part.names:
            other = self.brief(self.calls[found[1]][1])
            more = re.sub(r"(^|, )sennit_.*| of the caller's group alone$", "",
                          found[3])
            if more == "with the deadline":
                other = re.sub(r",? or (until )?the deadline( passes)?", "",
                               other)
                more = "without a deadline of its own"
            return other + ", " * bool(more) + more
        for prototype in part.prototypes.values():
            for kind, name in re.findall(r"\bsennit_(\w+) \*\*?(\w)\b[,)]",
                                         prototype):
                text = re.sub(r"(?<!')\b%s\b" % name, "the " + KINDS.get(
                    kind, kind.replace("_", " ")), text)
        return text

    def synopsis(self, part):
        out = []
        for name, text in part.prototypes.items():
            if "(" not in text:
                out.append(".Vt %s ;" % text.replace("const ", "const\\ "))
                continue
            result = text.partition(name)[0]
            out += [".Ft " + mdoc.escape(result.strip()), ".Fo " + name]
            out += ['.Fa "%s"' % mdoc.escape(a) for a in arguments(text)]
            out.append(".Fc")
        return out

    def call_page(self, header, part):
        names = part.names
        write = mdoc.Writer(self.calls, self.overviews, names, {
            a for t in part.prototypes.values() for a in parameters(t)})
        said, returned = split_returns(part.text)
        out = self.head(names[0], 3) + [".Sh NAME"]
        out += [".Nm %s ," % n for n in names[:-1]] + [".Nm " + names[-1]]
        out += [".Nd " + mdoc.escape(self.brief(part))]
        out += self.library(header) + [".Sh SYNOPSIS", self.include(header)]
        out += self.synopsis(part)
        out += [".Sh DESCRIPTION", *write.text(said)]
        for name in names:
            out += self.other_name(name.upper())
        if part.origin:
            out += [".Sh CALLING CONTEXT", ".Bl -tag -width Blocks",
                    ".It From", *write.prose(part.origin),
                    ".It Blocks", *write.prose(part.blocks), ".El", ".Pp",
                    ".Xr sennit_contracts 7", "explains these words."]
        if returned:
            out += [".Sh RETURN VALUES", *write.text(returned)]
        out += self.example_lines(names, self.examples.shown(names))
        out += self.error_lines(part, write)
        near = [n for p in header.calls for n in p.names if n not in names]
        named = re.findall(r"\bsennit_\w+", part.text)
        out += self.see([(3, n) for n in near + named
                         if n in self.calls and n not in names] +
                        [(7, "sennit"), (7, "sennit_" + header.stem)])
        return out

    def other_name(self, macro):
        """On the page of a call: the macro that man, which ignores case, may
        have been asked for."""
        if macro not in self.macros:
            return []
        header, part = self.macros[macro]
        write = mdoc.Writer(self.calls, self.overviews)
        about = part.text if part and part.text else \
            "See %s.h." % header.stem
        return [".Ss The macro " + macro, ".Dv " + macro, "of",
                self.include(header), "is another thing than this call.",
                *write.text(about)]

    def macro_page(self, header, part, names):
        """The page of the macros with arguments that one comment explains."""
        write = mdoc.Writer(self.calls, self.overviews, names)
        said, returned = split_returns(part.text)
        out = self.head(names[0], 3) + [".Sh NAME"]
        out += [".Nm %s ," % n for n in names[:-1]] + [".Nm " + names[-1]]
        out += [".Nd " + mdoc.escape(short(said or part.text))]
        out += self.library(header) + [".Sh SYNOPSIS", self.include(header)]
        for name, words in MACRO.findall(part.code):
            out += [".Pp", ".Fo " + name]
            out += ['.Fa "%s"' % mdoc.escape(a.strip())
                    for a in words.strip("()").split(",") if a.strip()]
            out += [".Fc"]
        out += [".Sh DESCRIPTION", *write.text(said)]
        if returned:
            out += [".Sh RETURN VALUES", *write.text(returned)]
        out += self.example_lines(names, self.examples.shown(names))
        named = re.findall(r"\bsennit_\w+", part.text)
        return out + self.see([(3, n) for n in named if n in self.calls] + [
            (7, "sennit"), (7, "sennit_" + header.stem)])

    def macro_pages(self):
        """With arguments and a comment: a page. Others, such as constants:
        the overview, which shows them."""
        done = {}
        for name, (header, part) in self.macros.items():
            found = MACRO.findall(part.code) if part else []
            names = [n for n, words in found if words]
            if name not in self.shown[header.stem]:
                continue
            if not part or not part.text.strip() or name not in names:
                yield name + ".3", [".so man7/sennit_%s.7" % header.stem]
            elif id(part) in done:
                yield name + ".3", [".so man3/%s.3" % done[id(part)]]
            else:
                done[id(part)] = name
                yield name + ".3", self.macro_page(header, part, names)

    def overview(self, header):
        name = "sennit_" + header.stem
        write = mdoc.Writer(self.calls, self.overviews, [header.stem + ".h"])
        out = self.head(name, 7) + [".Sh NAME", ".Nm " + name,
                                    ".Nd " + mdoc.escape(header.title)]
        out += [".Sh SYNOPSIS", self.include(header), ".Pp",
                "Link with \\-l%s." % LIBRARIES[header.library]]
        out += [".Sh DESCRIPTION"]
        out += write.text(header.text) or write.prose(header.title + ".")
        if header.calls:
            out += [".Sh CALLS", ".Bl -tag -width Ds"]
            for part in header.calls:
                names = [".Xr %s 3" % n for n in part.names]
                out += [".It " + " , ".join(n[1:] for n in names)]
                out += write.prose(first_sentence(part.text) + ".")
            out += [".El"]
        types = []
        for part in header.parts:
            section = contracts.SECTION.match(part.comment)
            if part.type_names:
                types += [".Ss " + " , ".join(part.type_names)]
                types += write.text(part.comment) if part.comment else []
                types += [".Bd -literal", *mdoc.literal(shown(part.code)),
                          ".Ed"]
            elif not part.code and part.comment and not section:
                types += [".Pp", *write.text(part.comment)]
        if types and types[0] == ".Pp":
            types[0:1] = []
        if types:
            out += [".Sh TYPES AND CONSTANTS", *types]
        files = [n for p in header.calls for n in p.names]
        files += [n for n in self.macros if self.macros[n][0] is header]
        out += self.example_lines(files, self.examples.overview(files))
        return out + self.see([(7, "sennit"), (7, "sennit_contracts")])

    def class_page(self, header):
        """What a header for C++ declares. The text of a comment stays with its
        declaration."""
        name = "sennit_cpp_" + header.stem
        write = mdoc.Writer(self.calls, self.overviews)
        out = self.head(name, 7) + [".Sh NAME", ".Nm " + name,
                                    ".Nd " + mdoc.escape(header.title)]
        include = next((path for path, inside in self.umbrellas.items()
                        if header.path in inside), header.path)
        out += [".Sh SYNOPSIS", ".In " + include, ".Pp",
                "Link with \\-l%s." % LIBRARIES[header.library]]
        out += [".Sh DESCRIPTION", *write.text(header.text or
                                               header.title + "."), ".Pp"]
        out += ["All is in the namespace sennit%s." % (
            "::io" if header.is_io else "")]
        out += [".Sh DECLARATIONS", ".Bd -literal",
                *mdoc.literal(header.shown), ".Ed"]
        same = [h for h in self.headers if h.stem == header.stem]
        return out + self.see([(7, "sennit")] + [
            (7, "sennit_" + h.stem) for h in same])

    def guide(self, path):
        text = installed.text(path.read_text())
        for name, value in self.fixed.items():
            text = text.replace("@%s@" % name, value)
        rows = ""
        write = mdoc.Writer(self.calls, {})
        for library in LIBRARIES:
            rows += ".Ss Headers of %s\n.Bl -tag -width Ds\n" % library
            for h in self.headers:
                if h.library == library:
                    rows += "\n".join([".It Xr sennit_%s 7" % h.stem,
                                       *write.prose(h.title + "."), ""])
            rows += ".El\n"
        text = text.replace("@headers@\n", rows)
        rows = ".Bl -tag -width Ds\n"
        for h in self.classes:
            rows += "\n".join([".It Xr sennit_cpp_%s 7" % h.stem,
                               *write.prose(h.title + "."), ""])
        text = text.replace("@classes@\n", rows + ".El\n")
        text = text.replace("@options@", "\n".join(options.rows(
            options.source_of(self.root, path.stem))))
        return text.rstrip("\n").split("\n")

    def pages(self):
        """Yields each page: its name with the section, and its lines."""
        self.shown = {}
        for header in self.headers:
            lines = self.overview(header)
            self.shown[header.stem] = set(
                re.findall(r"\bSENNIT_\w+", "\n".join(lines)))
            yield "sennit_%s.7" % header.stem, lines
            for part in header.calls:
                first = part.names[0]
                yield first + ".3", self.call_page(header, part)
                for name in part.names[1:]:
                    yield name + ".3", [".so man3/%s.3" % first]
        for header in self.classes:
            yield "sennit_cpp_%s.7" % header.stem, self.class_page(header)
        yield from self.macro_pages()
        for name, path in self.guides.items():
            yield name, self.guide(path)


def arguments(prototype):
    """The declarations of the parameters."""
    out, depth = [""], 0
    for c in prototype[prototype.index("(") + 1:prototype.rindex(")")]:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            out.append("")
        else:
            out[-1] += c
    return [a.strip() for a in out]


def parameters(prototype):
    """The names of the parameters."""
    if "(" in prototype:
        for text in arguments(prototype):
            found = re.search(r"\(\*(\w+)\)|(\w+)(\[\])?$", text)
            if found:
                yield found.group(1) or found.group(2)


def shown(code):
    """Declarations as a reader needs them: macros without their values."""
    if code.startswith("#define") and code.count("\n") and "(" in code:
        code = code.split("\n")[0].rstrip("\\").rstrip()
        code = code[:code.index(")") + 1] if ")" in code else code
    return code.split("\n")


def split_returns(text):
    """What a comment says, and what of it is about the result. One that begins
    with what is returned says it in both."""
    said, returned = [], []
    if text.startswith("Return ") and not RETURNS.search(text):
        returned.append("Returns" + text.split("\n\n")[0][len("Return"):])
    for paragraph in re.split(r"\n\n(?!\t)", text):
        found = RETURNS.search(paragraph)
        if found:
            returned.append(paragraph[found.start():])
            paragraph = paragraph[:found.start()].rstrip()
        if paragraph:
            said.append(paragraph)
    return "\n\n".join(said), "\n\n".join(returned)


def check(manual):
    """A line for each thing that is missing."""
    for name, (header, part) in sorted(manual.calls.items()):
        where = "%s: %s: " % (header.source, name)
        if not part.text.strip():
            yield where + "has no comment"
        elif "(" in part.prototypes[name] and not part.origin:
            yield where + "its comment lacks the line From: ... Blocks: ..."
        elif part.origin and not re.match("(no|yes|as|until|with)\\b",
                                          part.blocks):
            yield where + "Blocks: says neither no nor yes nor when"
        elif part.origin and not re.search("fiber|thread|turn", part.origin):
            yield where + "From: says neither fiber nor thread"
        result, bracket, _ = part.prototypes[name].partition(name)
        if bracket and "(" in part.prototypes[name] and \
                result.strip() != "void" and not split_returns(part.text)[1]:
            yield where + "its comment does not say what it Returns"
        if "(" in part.prototypes[name] and \
                not manual.examples.users.get(name):
            yield where + "no program in examples uses it"
    yield from options.missing(manual.root, {
        path.stem: "\n".join(manual.guide(path))
        for name, path in manual.guides.items() if name.endswith(".1")})
    yield from manual.errors.unnamed(sorted(
        ROOT.glob("core/test/api/*.c")))


def main(out):
    manual = Manual()
    if out == "--check":
        faults = list(check(manual))
        print("\n".join(faults)) if faults else None
        return 1 if faults else 0
    for name, lines in manual.pages():
        folder = pathlib.Path(out) / ("man" + name[-1])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
