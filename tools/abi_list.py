# SPDX-License-Identifier: Apache-2.0
"""abi_list - what programs are compiled and linked to, as sorted lines: calls,
inline functions, types with the offset of each member, enumerators, macros. For
tools/abi.

    call sennit_event_set = void (sennit_event *)
    enum sennit_event_mode SENNIT_EVENT_AUTO = 0
    macro SENNIT_ONCE_INIT = { 0 }
    struct sennit_event = 16 bytes, aligned to 8
    struct sennit_event 0 = uint32_t word_

The lines do not depend on how the library is built: the compiler reads the
headers alone, and readelf prints what it notes for debuggers, in which types
that no call uses are, too. Macros are those that it has read.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

DIE = re.compile(r" <(\d+)><([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)")
ATTRIBUTE = re.compile(r" +<[0-9a-f]+> +DW_AT_(\w+) *: (.*)")
DEFINED = re.compile(r"^(?:typedef )?(struct|union) (?:SENNIT_\w+ )?"
                     r"(sennit_\w+) {$|^}() (sennit_\w+);$", re.M)
INLINE = re.compile(r"^static inline [^;{}]*?\b(sennit_\w+)\(", re.M)
WORDS = {"long unsigned int": "unsigned long", "long int": "long",
         "short unsigned int": "unsigned short", "short int": "short",
         "long long unsigned int": "unsigned long long",
         "long long int": "long long", "_Bool": "bool"}
TAGGED = ("structure_type", "union_type", "enumeration_type")
OURS = re.compile(r"sennit_|SENNIT_")


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          universal_newlines=True, **options).stdout


class Entry:
    """What DWARF has of one declaration: a tag, attributes, and children."""

    def __init__(self, tag):
        self.tag, self.values, self.children = tag, {}, []

    def text(self, name):
        """Without the notes on how readelf's version found it."""
        value = self.values.get(name)
        return value and re.sub(r"^(\([^)]*\)[: ]*)+", "", value).strip()

    def number(self, name):
        found = re.match(r"-?0x[0-9a-f]+|-?\d+", self.text(name) or "")
        return int(found[0], 0) if found else None


def entries(path):
    """All of an object file by their places, those without a parent first."""
    found, above = {}, {}
    now = None
    for line in run("readelf", "--debug-dump=info", "-W", path).splitlines():
        begin = DIE.match(line)
        attribute = ATTRIBUTE.match(line)
        if begin:
            depth = int(begin[1])
            now = found[begin[2]] = above[depth] = Entry(begin[3])
            if depth > 0:
                above[depth - 1].children.append(now)
        elif attribute and now:
            now.values[attribute[1]] = attribute[2]
        elif "Abbrev Number: 0" in line:
            now = None
    return found


class Types:
    def __init__(self, path):
        self.found = entries(path)
        self.aligned = {}
        for entry in self.found.values():
            name = entry.text("name") or ""
            if entry.tag == "variable" and name.startswith("abi_align_"):
                self.aligned[name[len("abi_align_"):]] = self.length(
                    self.of(entry).children[0])

    def of(self, entry):
        place = re.search("<0x([0-9a-f]+)>", entry.values.get("type", ""))
        return self.found[place[1]] if place else None

    def name(self, entry):
        """A type as C writes it, nearly."""
        if entry is None:
            return "void"
        inner = self.of(entry)
        if entry.tag == "base_type":
            return WORDS.get(entry.text("name"), entry.text("name"))
        if entry.tag == "typedef":
            return re.sub(r"^__(u?int\d+_t)$", r"\1", entry.text("name"))
        if entry.tag in TAGGED:
            word = entry.tag.split("_")[0].replace("structure", "struct")
            return (word.replace("enumeration", "enum") + " " +
                    (entry.text("name") or "{...}"))
        if entry.tag == "pointer_type":
            return self.name(inner) + " *"
        if entry.tag in ("const_type", "volatile_type", "restrict_type",
                         "atomic_type"):
            return "%s %s" % (self.name(inner), entry.tag.split("_")[0])
        if entry.tag == "array_type":
            return self.name(inner) + "".join(
                "[%s]" % self.length(c) for c in entry.children)
        if entry.tag == "subroutine_type":
            return "%s (%s)" % (self.name(inner), ", ".join(
                "..." if c.tag == "unspecified_parameters" else
                self.name(self.of(c)) for c in entry.children) or "void")
        return entry.tag

    @staticmethod
    def length(subrange):
        if subrange.number("count") is not None:
            return subrange.number("count")
        last = subrange.number("upper_bound")
        return "" if last is None else last + 1

    def size(self, entry):
        while entry is not None and entry.number("byte_size") is None:
            if entry.tag == "array_type":
                return 0
            entry = self.of(entry)
        return entry.number("byte_size") if entry is not None else 0

    def members(self, owner, entry, at=0, prefix=""):
        """A line for each member, those of nameless members too."""
        for child in entry.children:
            if child.tag != "member":
                continue
            inner = self.of(child)
            place = at + (child.number("data_member_location") or 0)
            name = prefix + (child.text("name") or "")
            bits = child.number("bit_size")
            if inner.tag in TAGGED[:2] and not inner.text("name"):
                yield from self.members(owner, inner, place,
                                        name + "." if name else prefix)
                continue
            if bits is not None:
                name += ":%d at bit %s" % (
                    bits, child.number("data_bit_offset") or
                    child.number("bit_offset") or 0)
            yield "%s %d = %s %s" % (owner, place, self.name(inner), name)

    def tagged(self, entry, name):
        """The lines of a struct, union or enum."""
        begin = self.name(entry).replace("{...}", name or "-")
        for child in entry.children:
            if child.tag == "enumerator" and OURS.match(child.text("name")):
                yield "%s %s = %d" % (begin, child.text("name"),
                                      child.number("const_value"))
        size = entry.number("byte_size")
        if not name:
            return
        yield begin + " = " + ("opaque" if size is None else
                               "%d bytes" % size) + (
            ", aligned to %s" % self.aligned[name]
            if name in self.aligned else "")
        yield from self.members(begin, entry)

    def lines(self):
        named = set()
        for entry in self.found.values():
            name = entry.text("name") or ""
            target = self.of(entry) if entry.tag == "typedef" else None
            if re.match("abi_(call|inline)_", name):
                kind, call = name[len("abi_"):].split("_", 1)
                yield "%s %s = %s" % (kind, call, self.name(
                    self.of(self.of(entry))))
            elif entry.tag == "typedef" and OURS.match(name):
                yield "typedef %s = %s" % (name, self.name(target))
                if target is not None and target.tag in TAGGED and \
                        not target.text("name"):
                    named.add(id(target))
                    yield from self.tagged(target, name)
            elif entry.tag in TAGGED and OURS.match(name) and not \
                    (entry.values.get("declaration") and any(
                        e.tag == entry.tag and e.text("name") == name and
                        not e.values.get("declaration")
                        for e in self.found.values())):
                yield from self.tagged(entry, name)
        for entry in self.found.values():
            if entry.tag == "enumeration_type" and not entry.text("name") \
                    and id(entry) not in named:
                yield from self.tagged(entry, "")


def macros(cc, source):
    """All that a program may use, but the guards of headers and the version."""
    text = run(*cc, "-E", "-dM", source)
    for line in text.splitlines():
        found = re.match(r"#define ((?:SENNIT|sennit)_\w+)(\([^)]*\))? ?(.*)",
                         line)
        if found and not re.search(r"_HP?P?$", found[1]) and \
                not found[1].startswith("SENNIT_VERSION_"):
            text = re.sub(r" ?## ?", " ## ", " ".join(found[3].split()))
            yield "macro %s%s = %s" % (found[1], found[2] or "", text)


def read(include, headers, calls, cc):
    """The lines of a library's headers, as they are included. `cc` is the
    compiler with what it needs."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "abi.c")
        inline, defined = [], {}
        with open(source, "w", encoding="utf-8") as out:
            for header in headers:
                out.write('#include "%s"\n' % header)
                with open(os.path.join(include, header),
                          encoding="utf-8") as file:
                    text = file.read()
                inline += INLINE.findall(text)
                for word, name, _, alone in DEFINED.findall(text):
                    defined.setdefault(name or alone,
                                       (word + " " + name).strip() or alone)
            for kind, names in (("call", calls), ("inline", inline)):
                for name in names:
                    out.write("__typeof__(&%s) abi_%s_%s;\n" % (name, kind,
                                                                name))
            for name, type_name in defined.items():
                out.write("char abi_align_%s[_Alignof(%s)];\n" % (name,
                                                                  type_name))
        command = [*cc, "-std=c11", "-I" + include]
        built = os.path.join(folder, "abi.o")
        run(*command, "-gdwarf-4", "-O0", "-fno-eliminate-unused-debug-types",
            "-c", source, "-o", built)
        return sorted({*Types(built).lines(), *macros(command, source)},
                      key=order)


def order(line):
    """Members by their places, enumerators by their values."""
    words = line.split()
    number = words[2] if words[2] != "=" else "-1"
    if words[0] == "enum" and words[2] != "=":
        number = words[4]
    return words[:2], int(number) if number.isdigit() else -1, line


def longer_views(old, new):
    """The lines of a struct sennit_..._view that may change: the library makes
    it, and a program reads what it knows of it, so it may grow at its end."""
    head = re.compile(r"struct (\w+_view) = (\d+)( bytes, .*)$")
    heads = {m[1]: m for m in map(head.match, old) if m}
    fine = set()
    for m in filter(None, map(head.match, new)):
        was = heads.get(m[1])
        if was and was[3] == m[3] and int(was[2]) < int(m[2]):
            fine |= {was[0], *(line for line in new if re.match(
                r"struct %s \d+ = " % m[1], line)
                and int(line.split()[2]) >= int(was[2]))}
    return fine


def breaks(old, new):
    """The lines whose change breaks a program that was compiled before: what
    went or changed, and a member that an old struct did not have."""
    fine = longer_views(old, new)
    gone = sorted(set(old) - set(new) - fine)
    structs = {tuple(line.split()[:2]) for line in old
               if re.match("(struct|union) ", line)}
    return gone, sorted(
        line for line in set(new) - set(old) - fine
        if tuple(line.split()[:2]) in structs and " bytes, " not in line)


# --- the record --------------------------------------------------------------

AGAIN = "sh tools/abi update (make abi)"


def interface(library, version, include="include"):
    """All lines of a library but those that it has of libsennit, or None if its
    headers need something that is not here."""
    cc = os.environ.get("CC", "cc").split()
    if library == "libsennit-mpi":  # its types are MPI's: those of Open MPI
        if not shutil.which("mpicc.openmpi"):
            return None
        cc += run("mpicc.openmpi", "-showme:compile").split()
    headers = [path[len("include/"):] for path in run(
        "sh", "tools/list-calls", "--headers", library).split()]
    calls = run("sh", "tools/list-calls", library).split()
    lines = read(include, headers, calls, cc)
    if library != "libsennit":
        known = {line.split(" = ")[0]
                 for line in interface("libsennit", version, include)}
        lines = [line for line in lines if line.split(" = ")[0] not in known]
    return ["soname %s.so.%s" % (library, version), *lines]


def judge(old, new):
    """new, other-soname, breaks, more or same; and what differs."""
    if old is None:
        return "new", []
    if old[0] != new[0]:
        return "other-soname", []
    gone, grown = breaks(old, new)
    names = {line.split(" = ")[0] for line in gone}
    said = ["- " + line for line in gone] + [
        "+ " + line for line in new if line in grown or
        line not in old and line.split(" = ")[0] in names]
    if gone or grown:
        return "breaks", said
    said = ["+ " + line for line in new if line not in old]
    return ("more" if said else "same"), said


def recorded(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def update(mode, library, path, version, unreleased):
    """Whether the library is as recorded, or is now."""
    new = interface(library, version)
    if new is None:
        print("abi: %s is left out: no mpicc.openmpi" % library)
        return True
    verdict, said = judge(recorded(path), new)
    if verdict == "same":
        return True
    if said:
        print("\n".join(said))
    if verdict == "breaks" and not (mode == "update" and unreleased):
        print("abi: %s: programs that were built with %s would break. Keep "
              "what they use and add another, or raise SENNIT_VERSION_MINOR in "
              "include/sennit/base.h, then %s. If no release has this version: "
              "sh tools/abi update --unreleased" % (
                  library, new[0].split()[1], AGAIN))
        return False
    if mode == "check":
        print("abi: %s: the record is out of date (%s): %s" % (
            library, verdict, AGAIN))
        return False
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(new) + "\n")
    print("abi: %s: recorded (%s)" % (library, verdict))
    return True


def main(version, mode, *more):
    if mode == "list":
        print("\n".join(interface(more[0], version)))
        return 0
    folder = "abi/" + os.uname().machine
    if mode not in ("check", "update") or set(more) - {"--unreleased"}:
        print("usage: abi check | update [--unreleased] | list LIBRARY | "
              "version")
        return 2
    if mode == "check" and not os.path.isdir(folder):
        print("abi: skipped, there is no " + folder)
        return 77
    libraries = run("sh", "tools/list-calls", "--libraries").split()
    good = True
    for file in sorted(os.listdir(folder) if os.path.isdir(folder) else []):
        if file[:-len(".txt")] not in libraries:
            print("abi: %s is recorded, and no header declares it. Without it, "
                  "programs would not start: remove %s/%s by hand" % (
                      file[:-len(".txt")], folder, file))
            good = False
    for library in libraries:
        path = "%s/%s.txt" % (folder, library)
        good = update(mode, library, path, version,
                      "--unreleased" in more) and good
    if good:
        print("abi: as recorded: " + " ".join(libraries))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
