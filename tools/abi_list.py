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
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

DIE = re.compile(r" <(\d+)><([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)")
ATTRIBUTE = re.compile(r" +<[0-9a-f]+> +DW_AT_(\w+) *: (.*)")
DEFINED = re.compile(r"^(?:typedef )?(struct|union) (?:SENNIT_\w+ )?"
                     r"(sennit_\w+) {$|^}() (sennit_\w+);$", re.M)
INLINE = re.compile(r"^(?:SENNIT_MUST_USE )?static inline [^;{}]*?"
                    r"\b(sennit_\w+)\(", re.M)
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
            if entry.tag == "pointer_type":  # clang does not say
                return struct.calcsize("P")
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
        if self.has_nameless_end(entry):
            yield begin + " ends in nameless bytes"

    def has_nameless_end(self, entry):
        """Whether a struct that may grow, as its first member is its size,
        has bytes behind its last member: a new one would lie in them."""
        parts = [c for c in entry.children if c.tag == "member"]
        if not parts or parts[0].text("name") != "size":
            return False
        last = max(parts, key=lambda c: c.number("data_member_location") or 0)
        inner = self.of(last)
        if inner.tag == "pointer_type":  # clang does not note its size
            return False
        size = self.size(inner)
        if inner.tag == "array_type":
            size = self.size(self.of(inner))
            for dimension in inner.children:
                size *= self.length(dimension) or 0
        return ((last.number("data_member_location") or 0) + size !=
                entry.number("byte_size"))

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


def read(headers, calls, cc):
    """The lines of a library's headers, files of the tree. `cc` is the compiler
    with what it needs."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "abi.c")
        inline, defined = [], {}
        with open(source, "w", encoding="utf-8") as out:
            for header in headers:
                out.write('#include "%s"\n' % header.split("/include/")[1])
                with open(header, encoding="utf-8") as file:
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
        command = [*cc, *("-I" + os.path.dirname(folder)
                     for folder in sorted(glob.glob("*/include/sennit")))]
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


def longer(old, new):
    """The lines that may change of a struct that begins with its size: its
    maker states how much of it there is, so it may grow at its end."""
    head = re.compile(r"struct (\w+) = (\d+)( bytes, .*)$")
    heads = {m[1]: m for m in map(head.match, old)
             if m and "struct %s 0 = size_t size" % m[1] in old}
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
    fine = longer(old, new)
    gone = sorted(set(old) - set(new) - fine)
    structs = {tuple(line.split()[:2]) for line in old
               if re.match("(struct|union) ", line)}
    return gone, sorted(
        line for line in set(new) - set(old) - fine
        if tuple(line.split()[:2]) in structs and " bytes, " not in line)


# --- the records -------------------------------------------------------------

# What must not change the interface: another compiler, another standard, and
# macros that a program may define.
OTHERWISE = ["clang", "-std=c17", "-DNDEBUG",
             "-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64"]

# A program for 32 bits has other sizes, so the record has them too.
NARROW = "i686-linux-gnu-gcc"


class Library:
    """The interface of one library, as lines."""

    def __init__(self, name, cc):
        self.name, self.cc = name, cc.split()
        if name == "libsennit-mpi":  # its types are MPI's: those of Open MPI
            self.cc += run("mpicc.openmpi", "-showme:compile").split()
        self.headers = run("sh", "tools/list-calls", "--headers", name).split()
        self.calls = run("sh", "tools/list-calls", name).split()

    @staticmethod
    def can_read(name, cc):
        return shutil.which(cc.split()[0]) and (
            name != "libsennit-mpi" or
            cc != NARROW and shutil.which("mpicc.openmpi"))

    def lines(self, *options):
        # As the packages define it: on 32 bits io.h demands it.
        return read(self.headers, self.calls, [
            *self.cc, "-std=c11", "-D_FILE_OFFSET_BITS=64", *options])

    def changed_by(self, option, lines):
        """The lines that are others with this option, or this compiler."""
        if option.startswith("-"):
            return sorted(set(lines) ^ set(self.lines(*option.split())))
        if self.cc[0] == NARROW or not shutil.which(option):
            return []
        other = Library(self.name, option)
        return sorted(set(lines) ^ set(other.lines()))


def interface(name, soname, cc=None):
    """All lines of a library but those that it has of libsennit, or None if its
    headers need something that is not here."""
    cc = cc or os.environ.get("CC", "cc")
    if not Library.can_read(name, cc):
        return None
    library = Library(name, cc)
    lines = library.lines()
    if name != "libsennit":
        known = {line.split(" = ")[0] for line in interface("libsennit",
                                                            soname, cc)}
        lines = [line for line in lines if line.split(" = ")[0] not in known]
    return ["soname %s.so.%s" % (name, soname),
            *("header <%s>" % header.split("/include/")[1]
              for header in library.headers), *lines]


def judge(old, new):
    """breaks, more or same; and what differs."""
    gone, grown = breaks(old[1:], new[1:])
    names = {line.split(" = ")[0] for line in gone}
    said = ["- " + line for line in gone] + [
        "+ " + line for line in new[1:] if line in grown or
        line not in old and line.split(" = ")[0] in names]
    if gone or grown:
        return "breaks", said
    said = ["+ " + line for line in new[1:] if line not in old]
    return ("more" if said else "same"), said


def numbers(version):
    return tuple(int(n) for n in version.split("."))


def soname_of(version):
    major, minor, _ = numbers(version)
    return str(major) if major else "0.%d" % minor


def allowed(verdict, old, new):
    """Whether version `new` may differ so from the release `old`."""
    if verdict == "breaks":
        return soname_of(old) != soname_of(new)
    return verdict == "same" or numbers(new)[:2] > numbers(old)[:2]


def newest(version):
    """The last release before or at this version, if there is one."""
    releases = [name for name in os.listdir("abi") if re.fullmatch(
        r"\d+\.\d+\.\d+", name)] if os.path.isdir("abi") else []
    return max((r for r in releases if numbers(r) <= numbers(version)),
               key=numbers, default=None)


def machines():
    yield os.uname().machine, os.environ.get("CC", "cc")
    if os.uname().machine == "x86_64":
        yield "i686", NARROW


def compare(name, folder, cc, old, new):
    """Whether a library may be what it is in version `new`."""
    path = "%s/%s.txt" % (folder, name)
    lines = interface(name, soname_of(new), cc)
    if lines is None:
        print("abi: %s for %s is left out" % (name, folder.split("/")[-1]))
        return True
    recorded = [""]
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            recorded = file.read().splitlines()
    verdict, said = judge(recorded, lines)
    if allowed(verdict, old, new):
        return True
    print("\n".join(said[:50]))
    if verdict == "breaks":
        print("abi: %s: programs that were built with %s would break. Keep what"
              " they use and add another, or raise the number in the SONAME "
              "(core/include/sennit/base.h)" % (name, old))
    else:
        print("abi: %s has more than %s: raise SENNIT_VERSION_MINOR in "
              "core/include/sennit/base.h" % (name, old))
    return False


def gone(libraries, folder, old, new):
    """Whether a library that was released is there no more, under a SONAME that
    promises it."""
    files = os.listdir(folder) if os.path.isdir(folder) else []
    missing = sorted({file[:-len(".txt")] for file in files} - set(libraries))
    if not missing or soname_of(old) != soname_of(new):
        return False
    print("abi: no header declares %s of %s" % (" ".join(missing), old))
    return True


def rewritten(old):
    """Whether a commit after the first has changed the record of a release."""
    try:
        commits = run("git", "log", "--format=%h", "--", "abi/" + old,
                      stderr=subprocess.DEVNULL).split()
        changes = run("git", "status", "--porcelain", "--", "abi/" + old,
                      stderr=subprocess.DEVNULL)
    except (subprocess.CalledProcessError, FileNotFoundError):
        return False
    if len(commits) > 1 or commits and changes:
        print("abi: abi/%s was changed after the release: restore it" % old)
        return True
    return False


def depends(name, cc):
    """Whether an option changes an interface: a program and the library could
    have two of them."""
    if not Library.can_read(name, cc):
        return False
    library = Library(name, cc)
    lines = library.lines()
    nameless = [line for line in lines if line.endswith(" nameless bytes")]
    for line in nameless:
        print("abi: %s: name them, as a reserved member" % line)
    bad = bool(nameless)
    for option in OTHERWISE:
        said = library.changed_by(option, lines)
        if said:
            print("\n".join(said[:20]))
            print("abi: %s is another one for %s %s" % (name, cc, option))
            bad = True
    return bad


def follows(libraries, version):
    """Whether the interface may follow that of the newest release."""
    old = newest(version)
    if not old:
        print("abi: no release to compare with")
        return True
    bad = rewritten(old)
    for machine, cc in machines():
        folder = "abi/%s/%s" % (old, machine)
        if not os.path.isdir(folder):
            print("abi: %s has no record for %s" % (old, machine))
            continue
        bad = gone(libraries, folder, old, version) or bad
        for name in libraries:
            bad = not compare(name, folder, cc, old, version) or bad
    if not bad:
        print("abi: %s may follow %s" % (version, old))
    return not bad


def record(libraries, version):
    if os.path.exists("abi/" + version):
        print("abi: %s is recorded already" % version)
        return False
    for machine, cc in machines():
        folder = "abi/%s/%s" % (version, machine)
        for name in libraries:
            lines = interface(name, soname_of(version), cc)
            if lines is None:
                print("abi: %s for %s is left out" % (name, machine))
                continue
            os.makedirs(folder, exist_ok=True)
            with open("%s/%s.txt" % (folder, name), "w",
                      encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
    print("abi: recorded " + version)
    return True


def main(version, mode, *more):
    if mode == "list":
        print("\n".join(interface(more[0], soname_of(version))))
        return 0
    libraries = run("sh", "tools/list-calls", "--libraries").split()
    if mode == "check" and not more:
        bad = [depends(name, cc) for name in libraries
               for _, cc in machines()]
        return 0 if follows(libraries, version) and not any(bad) else 1
    if mode == "compare" and not more:
        return 0 if follows(libraries, version) else 1
    if mode == "record" and not more:
        return 0 if record(libraries, version) else 1
    print("usage: abi check | compare | record | list LIBRARY | version")
    return 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
