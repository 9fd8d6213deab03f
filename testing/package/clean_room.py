# SPDX-License-Identifier: Apache-2.0
"""clean_room.py SOURCE BUILD ROOM - every public header, each alone, and every
program of examples compiles, links and runs with what a user has. ROOM/prefix
is an installation. The ways are:

    pkg-config   the installed libraries, by their .pc files, shared; linked
                 with the archives, too
    cmake        the installed libraries, by find_package(sennit)
    single       what tools/amalgamate writes: a file for each library

No compiler may read a file of SOURCE or BUILD, and no installed text may name
them: a header or a library that is not installed is missed here. The programs
are those of the installed documentation. One that no rule knows is a failure;
one whose other library is missing is left out, by name. Programs that need a
peer are run by the scripts of io/test/foreign, mpi/test and diag/test/debug.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import threading

SOURCE, BUILD, ROOM = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
PREFIX = ROOM / "prefix"
INCLUDE = PREFIX / "include"
EXAMPLES = PREFIX / "share/doc/sennit/examples"
SINGLE = ROOM / "single"
CC, CXX = os.environ["CC"], os.environ["CXX"]
WARN = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
JOBS = len(os.sched_getaffinity(0)) + 1  # as many programs wait

# The other libraries of a program, by their .pc files, and what it then defines.
EXTRA = {
    "neighbours": (["hwloc"], ["-DHAVE_HWLOC"]),
    "marl/fractal": (["libpng"], ["-DHAVE_PNG"]),
    "treesum": (["libcrypto"], []), "io/ares": (["libcares"], []),
    "io/postgres": (["libpq"], []), "io/redis": (["hiredis"], []),
    "io/libuv": (["libuv"], []), "cookbook/tls": (["openssl"], []),
    "io/curl": (["libcurl"], []), "io/compress": (["zlib"], []),
}
# Several files that are one program: its name and how their names begin.
PARTS = ("io/redis", "io/curl")
FOLDERS = ("calls", "tutorial", "cookbook", "from", "io", "cpp", "marl", "mpi",
           "debug", "treesum")
# Those that do not end by themselves, or need a server.
HTTP = {"io/http_server": "server", "io/http_client": "client",
        "cpp/http_server": "server", "cpp/http_client": "client"}
ARGUMENTS = {"treesum": ["--no-verify", str(INCLUDE)],
             "mpi/uts": ["16", "1000"]}

failures, left_out, counts = [], [], {}
mpi_turn = threading.Lock()  # its processes spin


def fail(what, text=""):
    failures.append(what)
    print("FAILED: %s\n%s" % (what, "\n".join(text.splitlines()[-30:])),
          flush=True)


def output(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          check=True, **options).stdout


def flags(*arguments):
    """What pkg-config says, or None."""
    done = subprocess.run(["pkg-config", *arguments], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return None if done.returncode else shlex.split(done.stdout)


def works(what, command, **options):
    """Runs it. It ends with 0, or is skipped and ends with 77."""
    done = subprocess.run([str(word) for word in command], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace",
                          check=False, timeout=500, **options)
    if done.returncode == 77:
        left_out.append("%s: %s" % (what, done.stdout.strip()[:80]))
    elif done.returncode:
        fail("%s (%d)" % (what, done.returncode),
             "%s\n%s" % (shlex.join(map(str, command)), done.stdout))
    return done.returncode in (0, 77)


# --- what there is ------------------------------------------------------------


def library_of(header):
    """The library of a public header of C, by its comment."""
    found = re.search(r"^ \* In (libsennit-[a-z]+)", header.read_text(), re.M)
    return found[1] if found else "libsennit"


def calls_of(header):
    return output("awk", "-f", "tools/split.awk", "-f", "tools/calls.awk",
                  header, cwd=SOURCE).split()


class Mpi:
    """An MPI with a library of sennit's. It has no .pc file of one name."""

    def __init__(self, name):
        self.name = name
        asked = (("-showme:compile", "-showme:link") if name == "openmpi"
                 else ("-compile_info", "-link_info"))
        said = [shlex.split(output("mpicc." + name, word)) for word in asked]
        self.cflags, self.libs = (
            [w for w in words if re.match("-[ILl]|-Wl,|-pthread", w)]
            for words in said)


class Program:
    def __init__(self, name, files):
        self.name, self.files = name, files
        self.cxx = files[0].suffix == ".cpp"
        text = "".join(f.read_text() for f in files)
        used = {library_of(INCLUDE / h) for h in re.findall(
            r"#include <(sennit/[\w/]+\.h(?:pp)?)>", text)
                if (INCLUDE / h).exists()}
        if "libsennit-http" in used:
            used |= {"libsennit-io", "libsennit-tls"}
        self.missing = [h for h in re.findall(r"#include <(sennit[^>]*)>",
                                              text)
                        if not (INCLUDE / h).exists()]
        self.parts = sorted((u[len("libsennit-"):] for u in
                             used - {"libsennit"}), reverse=True)
        self.extra, self.defines = EXTRA.get(name, ([], []))
        self.mpi = None
        self.standard = "c++11" if name.startswith("marl/") else \
            "c++20" if "co_await" in text else \
            "c++17" if self.cxx else "gnu11"

    @property
    def marl(self):
        return self.name.startswith("marl/")

    def run(self, way, program):
        """As its test in the tree does."""
        what = "%s: %s" % (way, self.title)
        folder = ROOM / "run" / re.sub(r"\W+", "_", what)
        folder.mkdir(parents=True)
        base = self.name.split("/")[-1]
        script = SOURCE / "io/test/foreign" / (base + ".sh")
        environment = dict(os.environ)
        command = [program, *ARGUMENTS.get(self.name, [])]
        if self.name.startswith(("io/", "cpp/")) and script.exists():
            if way != "pkg-config":
                return  # one way is enough for those
            command = ["sh", script, program]
        elif self.name.startswith("debug/"):
            if way != "pkg-config":
                return
            top = PREFIX / "bin/sennit-top"
            environment.update(SCENARIO_PROGRAM=str(program),
                               SOURCE_DIR=str(SOURCE),
                               SENNIT_TOP=str(top) if top.exists() else "")
            command = [sys.executable, "-B",
                       SOURCE / "diag/test/debug/scenario.py", base]
        elif self.name in HTTP:
            command = [sys.executable, "-B",
                       SOURCE / "http/test/with_curl.py",
                       "%s=%s" % (HTTP[self.name], program)]
        elif self.name == "cookbook/tls":
            command = ["sh", SOURCE / "testing/guides/with_certificate.sh",
                       program]
        elif self.mpi:
            environment["RANKS"] = "2"
            command = ["sh", SOURCE / "mpi/test/run.sh", self.mpi.name,
                       *command]
        if self.mpi:
            with mpi_turn:
                works(what, command, cwd=folder, env=environment)
        else:
            works(what, command, cwd=folder, env=environment)
        counts[way] = counts.get(way, 0) + 1

    @property
    def title(self):
        return self.name + (" with " + self.mpi.name if self.mpi else "")

    def components(self):
        return [p + "-" + self.mpi.name if p == "mpi" else p
                for p in self.parts]

    def cflags(self):
        own = self.mpi.cflags if self.mpi else []
        return [*self.defines, *own, *(flags("--cflags", *self.extra)
                                       if self.extra else [])]

    def libs(self):
        own = self.mpi.libs if self.mpi else []
        return [*own, *(flags("--libs", *self.extra) if self.extra else []),
                "-lm"]

    def compiler(self):
        return [CXX if self.cxx else CC, "-std=" + self.standard, "-g",
                "-D_GNU_SOURCE", "-rdynamic"]


def programs(mpis):
    """All of the installed examples."""
    found = {}
    for file in sorted(EXAMPLES.rglob("*")):
        if file.suffix not in (".c", ".cpp") or file.stem.endswith("_before"):
            continue
        name = str(file.relative_to(EXAMPLES).with_suffix(""))
        if "/" in name and name.split("/")[0] not in FOLDERS:
            fail("no rule for examples/%s" % name)
        if name.startswith("treesum/"):
            name = "treesum"
        name = next((p for p in PARTS if name.startswith(p)), name)
        found.setdefault(name, []).append(file)
    for name, files in found.items():
        program = Program(name, files)
        lacks = [e for e in program.extra if flags("--exists", e) is None]
        if program.missing:
            fail("examples/%s: not installed: %s" % (
                name, " ".join(program.missing)))
        elif program.cxx and not CXX:
            left_out.append("%s: no C++" % name)
        elif lacks:
            left_out.append("%s: no %s" % (name, " ".join(lacks)))
        elif name.startswith("mpi/"):
            for mpi in mpis:
                program = Program(name, files)
                program.mpi = mpi
                yield program
        else:
            yield program


# --- the ways -----------------------------------------------------------------


class Way:
    """compile() and link() take the parts of sennit that they use."""

    def __init__(self, name):
        self.name = name
        self.folder = ROOM / re.sub(r"\W", "_", name)
        self.folder.mkdir()

    def object(self, what, compiler, source, cflags):
        made = self.folder / (re.sub(r"\W+", "_", what) + ".o")
        return made if works("%s: compiling %s" % (self.name, what), [
            *compiler, "-MD", *cflags, "-c", source, "-o", made],
            cwd=self.folder) else None

    def link(self, what, compiler, objects, libs):
        made = self.folder / re.sub(r"\W+", "_", what)
        return made if works("%s: linking %s" % (self.name, what), [
            *compiler, *objects, *libs, "-o", made]) else None

    def program(self, p):
        objects = [self.object(
            p.title + " " + file.name, p.compiler() + ["-O1"], file,
            self.cflags(p.components(), p.marl) + p.cflags())
            for file in p.files]
        if None not in objects:
            made = self.link(p.title, p.compiler(), objects,
                             self.libs(p.components(), p.mpi) + p.libs())
            self.more(p, objects)
            if made:
                p.run(self.name, made)

    def more(self, p, objects):
        pass

    def headers(self, what, compiler, headers, cflags, libs, calls=True):
        """Each alone, in a file that has the addresses of all its calls. All
        of them linked, which finds what is defined twice."""
        suffix = ".c" if compiler[0] == CC else ".cpp"
        names, objects = [], []
        for header in headers:
            name = re.sub(r"\W", "_", "%s of %s" % (what, header))
            text = "#include <%s>\n#include <%s>\n" % (header, header)
            text += "void f_%s(void);\nvoid f_%s(void)\n{\n" % (name, name)
            for call in calls_of(INCLUDE / header) if calls else []:
                text += "\t{ __typeof__(&%s) volatile p = &%s; (void)p; }\n" \
                    % (call, call)
            source = self.folder / (name + suffix)
            source.write_text(text + "}\n")
            objects.append(self.object(name, compiler + WARN, source, cflags))
            names.append("f_" + name)
        source = self.folder / re.sub(r"\W", "_", "main of " + what)
        source = source.with_suffix(suffix)
        source.write_text("".join("void %s(void);\n" % n for n in names) +
                          "int main(void)\n{\n" + "".join(
                              "\t%s();\n" % n for n in names) +
                          "\treturn 0;\n}\n")
        if None in objects:
            return
        made = self.link("headers of " + what, [*compiler, source], objects,
                         libs)
        if made:
            works("%s: headers of %s" % (self.name, what), [made])
            counts[self.name] = counts.get(self.name, 0) + len(headers)


def package(part):
    return "sennit-" + part if part else "sennit"


class PkgConfig(Way):
    def cflags(self, parts, marl=False):
        words = flags("--cflags", package(""), *map(package, parts))
        if words is None:
            fail("pkg-config does not know %s" % parts)
            return []
        return (["-I%s/sennit/compat" % INCLUDE] if marl else []) + words

    def libs(self, parts, mpi=None, static=False):
        words = flags("--libs", *["--static"] * static,
                      *map(package, parts or [""])) or []
        libdir = flags("--variable=libdir", "sennit")[0]
        if static:  # the archives of sennit, and other libraries as they are
            return [re.sub("^-l(sennit.*)", "-l:lib\\1.a", w) for w in words]
        return [*words, "-Wl,-rpath," + libdir]

    def more(self, p, objects):
        made = self.link(p.title + " static", p.compiler(), objects,
                         self.libs(p.components(), p.mpi, True) + p.libs())
        if made and re.search("NEEDED.*sennit", output("readelf", "-d", made)):
            fail("%s static needs a shared library of sennit" % p.title)
        if made and p.name in ("hello", "io/echo", "calls/diag", "mpi/waits",
                               "marl/primes"):
            p.run("archives", made)


class Single(Way):
    """Its objects are made first."""

    def __init__(self, name, mpis):
        super().__init__(name)
        self.needs = {"": ["-pthread", "-ldl"]}
        for part in ("", "io", "tls", "http", "diag", *["mpi"] * bool(mpis)):
            self.write("libsennit-" + part if part else "libsennit")
        self.write("sennit.hpp")
        self.write("sennit_io.hpp")
        self.write("sennit_tls.hpp")
        self.write("sennit_http.hpp")
        if CXX:  # as docs/embedding.md says
            shutil.copytree(INCLUDE / "sennit/compat/marl", SINGLE / "marl")
        wanted = [("", [], []), ("io", ["-DSENNIT_HAVE_URING"], ["liburing"]),
                  ("tls", [], ["openssl"]),
                  ("http", ["-DSENNIT_HTTP_TLS"], ["openssl"]),
                  ("diag", ["-DSENNIT_HAVE_LIBDW"], ["libdw", "libelf"])]
        for part, defines, others in wanted:
            if others and flags("--libs", *others) is None:
                defines = others = []
            self.needs[part] = flags("--libs", *others) if others else []
            self.library(part, "sennit_" + part if part else "sennit",
                         defines)
        for mpi in mpis:
            part = "mpi-" + mpi.name
            self.needs[part] = []
            self.library(part, "sennit_mpi", mpi.cflags)
        self.needs[""] = ["-pthread", "-ldl"]

    @staticmethod
    def write(library):
        works("tools/amalgamate " + library, [
            sys.executable, "-B", SOURCE / "tools/amalgamate", SINGLE,
            library])

    def library(self, part, name, more):
        works("single: compiling " + name, [
            CC, "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-MD",
            *more, "-I", SINGLE, "-c", SINGLE / (name + ".c"), "-o",
            self.folder / (package(part) + ".o")])

    def cflags(self, parts, marl=False):
        return ["-I", SINGLE, "-pthread"]

    def libs(self, parts, mpi=None):
        return [*[self.folder / (package(p) + ".o") for p in [*parts, ""]],
                *[w for p in [*parts, ""] for w in self.needs[p]]]


CMAKE = """cmake_minimum_required(VERSION 3.16)
project(clean_room C{cxx})
find_package(sennit {version} REQUIRED COMPONENTS {components})
add_compile_definitions(_GNU_SOURCE)
link_libraries(m)
"""
CMAKE_PROGRAM = """
add_executable({name} {files})
target_compile_options({name} PRIVATE {cflags})
set_target_properties({name} PROPERTIES ENABLE_EXPORTS ON C_STANDARD 11
	CXX_STANDARD {standard})
target_link_libraries({name} PRIVATE {sennit} {libs})
"""


def by_cmake(all_programs, mpis):
    folder = ROOM / "cmake"
    folder.mkdir()
    parts = ["io", "tls", "http", "diag"] + ["mpi-" + mpi.name for mpi in mpis]
    text = CMAKE.format(
        cxx=" CXX" if CXX else "", components=" ".join(parts),
        version=output("sh", "tools/abi", "version", cwd=SOURCE).strip())
    for p in all_programs:
        names = [["sennit::" + c for c in p.components()], ["sennit::marl"],
                 ["sennit::sennit"]]
        text += CMAKE_PROGRAM.format(
            name=re.sub(r"\W+", "_", p.title),
            files=" ".join(map(str, p.files)), cflags=" ".join(p.cflags()),
            standard=p.standard[-2:] if p.cxx else 17, libs=" ".join(p.libs()),
            sennit=" ".join(next(n for n in names[p.marl:] if n)))
    (folder / "CMakeLists.txt").write_text(text)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    if not works("cmake: find_package", [
            "cmake", *generator, "-S", folder, "-B", folder / "build",
            "-DCMAKE_PREFIX_PATH=%s" % PREFIX, "-DCMAKE_C_COMPILER=" + CC,
            "-DCMAKE_BUILD_TYPE=Debug",
            *["-DCMAKE_CXX_COMPILER=" + CXX] * bool(CXX)]):
        return
    works("cmake: building", ["cmake", "--build", folder / "build", "--",
                              "-k", *(["0"] if generator else []),
                              "-j", str(JOBS)])
    if generator:
        inside("cmake", output("ninja", "-C", folder / "build", "-t", "deps"))
    each([(p.run, "cmake", folder / "build" / re.sub(r"\W+", "_", p.title))
          for p in all_programs])


# --- nothing of the tree --------------------------------------------------------


def inside(what, text):
    """Fails if text names a file of the tree or of the build."""
    found = {line.strip() for line in text.splitlines()
             if re.search(r"(^|[\s=:\"';I])(%s|%s)/" % (
                 re.escape(str(SOURCE)), re.escape(str(BUILD))), line)}
    if found:
        fail("%s: reads or names the source tree" % what,
             "\n".join(sorted(found)[:10]))


def installed_names_nothing():
    for file in PREFIX.rglob("*"):
        if file.suffix in (".h", ".hpp", ".pc", ".cmake", ".py", ".md", ".3",
                           ".7", ".1", ".html"):
            inside(file.relative_to(PREFIX), file.read_text(errors="replace"))
    mine = {str(f.relative_to(INCLUDE)) for f in INCLUDE.rglob("*.h*")}
    tree = {re.sub("^compat/", "sennit/compat/", str(
        f.relative_to(SOURCE / "include")))
            for f in (SOURCE / "include").rglob("*.h*")}
    return sorted(tree - mine), sorted(mine)


def commands():
    """Each installed command says how it is used and has a page."""
    for file in sorted((PREFIX / "bin").glob("*")):
        works("%s --help" % file.name, [file, "--help"])
        page = PREFIX / "share/man/man1" / (file.name + ".1")
        if (PREFIX / "share/man/man3").exists() and not page.exists():
            fail("%s has no page in section 1" % file.name)


def each(jobs):
    """Calls all of them, some at a time."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for done in [pool.submit(*job) for job in jobs]:
            done.result()


def header_jobs(way, headers, mpis):
    c = [h for h in headers if re.match(r"sennit(/\w+)?\.h$", h)]
    for part in ("", "io", "tls", "http", "diag"):
        own = [h for h in c if library_of(INCLUDE / h) ==
               ("libsennit-" + part if part else "libsennit")]
        parts = [part, *["tls"] * (part == "http"),
                 *["io"] * (part in ("tls", "http"))] if part else []
        yield (way.headers, "%s in C" % package(part), [CC, "-std=c11"], own,
               way.cflags(parts), way.libs(parts))
        if CXX:
            yield (way.headers, "%s in C++" % package(part),
                   [CXX, "-std=c++11"], own, way.cflags(parts),
                   way.libs(parts))
    for mpi in mpis:
        parts = ["mpi-" + mpi.name]
        yield (way.headers, package(parts[0]), [CC, "-std=c11"],
               ["sennit/mpi.h"], way.cflags(parts) + mpi.cflags,
               way.libs(parts, mpi) + mpi.libs)
    if not CXX:
        return
    cpp = [h for h in headers if h.endswith(".hpp")]
    marl = [h for h in headers if "/compat/" in h and "windows" not in h]
    if isinstance(way, Single):  # where the others lead to this one
        cpp = ["sennit.hpp", "sennit/cpp/group.hpp", "sennit/cpp/io.hpp"]
    # In four, to compile at once.
    for at in range(4):
        yield (way.headers, "classes %d" % at, [CXX, "-std=c++17"], cpp[at::4],
               way.cflags([]), way.libs([]), False)
        yield (way.headers, "marl %d" % at, [CXX, "-std=c++11"],
               [m.split("/compat/")[1] for m in marl][at::4]
               if not isinstance(way, Single) else ["marl/scheduler.h"],
               way.cflags([], True), way.libs([]), False)


def main():
    os.environ["PKG_CONFIG_PATH"] = str(next(PREFIX.rglob("sennit.pc")).parent)
    mpis = [Mpi(name) for name in ("openmpi", "mpich")
            if flags("--exists", "sennit-mpi-" + name) is not None]
    if not mpis:
        left_out.append("MPI: no library for one")
    missing, headers = installed_names_nothing()
    if not mpis and missing == ["sennit/mpi.h"]:
        missing = []
    if missing:
        fail("headers that are not installed: " + " ".join(missing))
    commands()
    if "sennit/mpi.h" in missing:
        mpis = []
    everything = list(programs(mpis))
    ways = [PkgConfig("pkg-config"), Single("single", mpis)]
    for way in ways:
        each([*header_jobs(way, headers, mpis),
              *[(way.program, p) for p in everything]])
        for file in way.folder.glob("*.d"):
            inside("%s: %s" % (way.name, file.stem), file.read_text())
            if way.name == "single" and str(INCLUDE) in file.read_text():
                fail("single: %s reads what is installed" % file.stem)
    by_cmake(everything, mpis)
    for line in sorted(set(left_out)):
        print("left out: " + line)
    for way, count in counts.items():
        print("%s: %d headers and programs" % (way, count))
    sys.exit(bool(failures))


main()
