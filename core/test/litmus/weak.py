#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weak.py [-v] [FILE.litmus...] - asks herd7 whether the protocols of the core
hold by the memory models of C11 (RC11), ARMv8, RISC-V, POWER and x86. By
default all of core/test/litmus/weak. Exits with 77 if there is no herd7.

Each file is a test of herd7 in C, for RC11. The condition at its end must be
unreachable. This translates it, as gcc does, to the assembler of each processor
and asks the processor's model as well. In the head of a file

    Edges=NAME...                   edges of core/docs/memory-order.md
    WeakerA=ORDER: MODEL...         a mutant: the statement with label A has
                                    another memory order, or is left out
                                    (none). The condition can then be reached in
                                    these models and in no others

A comment behind a statement has its label, and says what it stands for. All
read-modify-writes are exchanges here, because the condition says which value
each of them finds. The processor's code follows what the library has: a compare
and set ("cas" and the value that it expects), or else an exchange, addition or
disjunction, for which compilers write the same.

MODELS says which models run: SENNIT_HERD names the program, SENNIT_HERD_LIB the
folder with its models.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ("RC11", "ARMv8", "RISC-V", "POWER", "x86")
STATEMENT = re.compile(
    r"^\s*(?:int (?P<out>r\d) = )?atomic_(?P<what>load|store|exchange|thread)"
    r"(?:_explicit|_fence)\((?:(?P<at>\w+), )?(?:(?P<value>\d+), )?"
    r"memory_order_(?P<order>\w+)\);"
    r"(?: //(?: (?P<label>[A-Z]))?(?: cas (?P<cas>\d+))?)?$")
ACQUIRES = ("acquire", "acq_rel", "seq_cst")
RELEASES = ("release", "acq_rel", "seq_cst")


def fail(path, what):
    sys.exit("%s: %s" % (os.path.relpath(path), what))


class Test:
    """A file."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        head, rest = self.text.split("\n{", 1)
        self.name = head.split()[1]
        self.title = re.search(r'"(.*)"', head).group(1)
        self.edges = re.search(r"^Edges=(.*)", head, re.M).group(1).split()
        self.weaker = [(label, order, models.split()) for label, order, models
                       in re.findall(r"^Weaker(\w)=(\w+): (.*)", head, re.M)]
        self.start = rest.split("}", 1)[0]
        self.condition = rest[rest.index("\nexists "):].strip()
        self.threads = [self.parse(body) for body in
                        re.findall(r"^P\d .*?\{\n(.*?)^\}", rest, re.M | re.S)]
        labels = {s["label"] for thread in self.threads for s in thread}
        for label, order, models in self.weaker:
            if label not in labels or not set(models) <= set(MODELS):
                fail(path, "no statement, or no model: %s %s" % (label, order))

    def parse(self, body):
        """The statements of a thread."""
        lines = body.splitlines()
        found = [STATEMENT.match(line) for line in lines]
        if not all(found):
            fail(self.path, lines[found.index(None)])
        return [match.groupdict() for match in found]

    def mutated(self, label, order):
        """The threads, one statement with another order."""
        for thread in self.threads:
            yield [dict(s, order=order) if s["label"] == label else s
                   for s in thread if s["label"] != label or order != "none"]


# --- C ------------------------------------------------------------------


def in_c(test, threads):
    """The file again."""
    out = ["C " + test.name, "{" + test.start + "}"]
    for number, thread in enumerate(threads):
        names = re.findall(r"(\w+)=", test.start)
        out += ["", "P%d (%s) {" % (number, ", ".join(
            "atomic_int *" + name for name in names))]
        for s in thread:
            inner = "".join(part + ", " for part in (s["at"], s["value"])
                            if part)
            out.append("  %satomic_%s(%smemory_order_%s);" % (
                "int %s = " % s["out"] if s["out"] else "",
                "thread_fence" if s["what"] == "thread"
                else s["what"] + "_explicit", inner, s["order"]))
        out.append("}")
    return "\n".join(out + ["", test.condition, ""])


# --- assembler: what gcc 12 writes, without the loops -------------------
#
# An exchange that fails (another has interfered) ends its thread. The register
# `done` is then not set, so that the condition does not hold. Each function
# returns lines. a: register with the address, r: result, v: value to store.


class Processor:
    """Names of registers, and an instruction each."""

    def address(self, n):
        return self.addresses % (20 + n)

    def result(self, name):
        return self.results % int(name[1:])

    def statement(self, s, a, scratch):
        """The lines of a statement."""
        order = s["order"]
        if s["what"] == "thread":
            return self.fence()
        if s["what"] == "load":
            return self.load(self.result(s["out"]), a, order in ACQUIRES)
        value = self.results % scratch
        if s["what"] == "store":
            return [self.constant(value, s["value"])] + self.store(
                value, a, order in RELEASES)
        lines = [self.constant(value, s["value"])]
        if s["cas"]:
            expected = self.results % (scratch + 1)
            lines.append(self.constant(expected, s["cas"]))
            return lines + self.cas(self.result(s["out"]), expected, value, a,
                                    order in ACQUIRES, order in RELEASES)
        return lines + self.swap(self.result(s["out"]), value, a,
                                 order in ACQUIRES, order in RELEASES)


class ARMv8(Processor):
    """Without LSE, which is no weaker."""
    herd, addresses, results = "AArch64", "X%d", "W%d"
    end, done = "LEND:", "MOV W19,#1"

    def constant(self, r, value):
        return "MOV %s,#%s" % (r, value)

    def fence(self):
        return ["DMB ISH"]

    def load(self, r, a, acquires):
        return ["%s %s,[%s]" % ("LDAR" if acquires else "LDR", r, a)]

    def store(self, v, a, releases):
        return ["%s %s,[%s]" % ("STLR" if releases else "STR", v, a)]

    def swap(self, r, v, a, acquires, releases, test=()):
        return ["%s %s,[%s]" % ("LDAXR" if acquires else "LDXR", r, a), *test,
                "%s W18,%s,[%s]" % ("STLXR" if releases else "STXR", v, a),
                "CBNZ W18,LEND"]

    def cas(self, r, e, v, a, acquires, releases):
        return self.swap(r, v, a, acquires, releases,
                         ("CMP %s,%s" % (r, e), "B.NE LEND"))


class RiscV(Processor):
    """Compare and set as by gcc 14 and clang."""
    herd, addresses, results = "RISCV", "x%d", "x%d"
    end, done = "LEND:", "ori x19,x0,1"

    def result(self, name):
        return "x%d" % (5 + int(name[1:]))

    def constant(self, r, value):
        return "ori %s,x0,%s" % (r, value)

    def fence(self):
        return ["fence rw,rw"]

    def load(self, r, a, acquires):
        return ["lw %s,0(%s)" % (r, a)] + ["fence r,rw"] * acquires

    def store(self, v, a, releases):
        return ["fence rw,w"] * releases + ["sw %s,0(%s)" % (v, a)]

    def swap(self, r, v, a, acquires, releases):
        return ["amoswap.w%s %s,%s,(%s)" % (
            ".aq" * acquires + ".rl" * releases, r, v, a)]

    def cas(self, r, e, v, a, acquires, releases):
        return ["lr.w%s %s,0(%s)" % (".aq" * acquires, r, a),
                "bne %s,%s,LEND" % (r, e),
                "sc.w%s x18,%s,0(%s)" % (".rl" * releases, v, a),
                "bne x18,x0,LEND"]


class RiscVFences(RiscV):
    """gcc 12, with what base/atomic.h asks of it for compare and set. What is
    weaker there may be stronger here, so mutants do not use it."""

    def swap(self, r, v, a, acquires, releases):
        return ["fence rw,w"] * releases + ["amoswap.w%s %s,%s,(%s)" % (
            ".aq" * acquires, r, v, a)]

    def cas(self, r, e, v, a, acquires, releases):
        aq = ".aq" * (acquires or releases)
        return ["fence rw,w"] * releases + [
            "lr.w%s %s,0(%s)" % (aq, r, a), "bne %s,%s,LEND" % (r, e),
            "sc.w%s x18,%s,0(%s)" % (aq, v, a), "bne x18,x0,LEND"]


class Power(Processor):
    """Behind an acquiring load gcc compares the register with itself, branches
    and has an isync. The same here behind an exchange: it stands for the wait
    of a stwcx. for its lwarx, which herd7 does not know."""
    herd, addresses, results = "PPC", "r%d", "r%d"
    end, done = "LEND:", "li r19,1"

    def result(self, name):
        return "r%d" % (3 + int(name[1:]))

    def constant(self, r, value):
        return "li %s,%s" % (r, value)

    def wait_for(self, r):
        label = "LC%s" % r
        return ["cmpw %s,%s" % (r, r), "bne " + label, label + ":", "isync"]

    def fence(self):
        return ["sync"]

    def load(self, r, a, acquires):
        return ["lwz %s,0(%s)" % (r, a)] + self.wait_for(r) * acquires

    def store(self, v, a, releases):
        return ["lwsync"] * releases + ["stw %s,0(%s)" % (v, a)]

    def swap(self, r, v, a, acquires, releases, test=()):
        return ["lwsync"] * releases + [
            "lwarx %s,r0,%s" % (r, a), *test,
            "stwcx. %s,r0,%s" % (v, a), "bne LEND"
        ] + self.wait_for(r) * acquires

    def cas(self, r, e, v, a, acquires, releases):
        return self.swap(r, v, a, acquires, releases,
                         ("cmpw %s,%s" % (r, e), "bne LEND"))


class X86(Processor):
    """i386 or x86-64."""
    herd, addresses, results = "X86", "%d", "E%sX"
    end, done = None, None

    def address(self, n):
        return None

    def result(self, name):
        return "E%sX" % "ABCD"[int(name[1:])]

    def statement(self, s, a, scratch):
        at = "[%s]" % s["at"]
        if s["what"] == "thread":
            return ["MFENCE"]
        if s["what"] == "load":
            return ["MOV %s,%s" % (self.result(s["out"]), at)]
        if s["what"] == "store":
            return ["MOV %s,$%s" % (at, s["value"])]
        r = self.result(s["out"])
        return ["MOV %s,$%s" % (r, s["value"]), "XCHG %s,%s" % (at, r)]


def in_assembler(test, threads, processor):
    """The test for a processor."""
    start, columns, more = [test.start.strip()], [], []
    condition = test.condition[len("exists "):]
    for number, thread in enumerate(threads):
        names = sorted({s["at"] for s in thread if s["at"]})
        lines = ["P%d" % number]
        for n, s in enumerate(thread):
            a = names.index(s["at"]) if s["at"] else 0
            lines += processor.statement(s, processor.address(a), 8 + 2 * n)
        if processor.address(0):
            start += ["%d:%s=%s;" % (number, processor.address(n), name)
                      for n, name in enumerate(names)]
            lines += [processor.done, processor.end]
            lines = [re.sub(r"\b(LEND|LC)", r"\g<1>%d" % number, line)
                     for line in lines]
            more.append("%d:%s=1" % (number, re.search(
                r"[WXxr]19", processor.done).group()))
        columns.append(lines)
    condition = re.sub(r":(r\d)", lambda m: ":" + processor.result(m.group(1)),
                       condition)
    if processor.herd == "AArch64":
        condition = condition.replace(":W", ":X")
        more = [part.replace(":W", ":X") for part in more]
    height = max(map(len, columns))
    width = max(len(line) for column in columns for line in column)
    rows = [" " + " | ".join((column[i] if i < len(column) else "").ljust(width)
                             for column in columns) + " ;"
            for i in range(height)]
    return "\n".join(["%s %s" % (processor.herd, test.name),
                      "{ %s }" % " ".join(start), *rows,
                      "exists (%s)" % " /\\ ".join([condition, *more]), ""])


# --- herd7 ----------------------------------------------------------------

RUNS = (  # model, how it shows, the processor
    ("RC11", "rc11.cat", None), ("ARMv8", "aarch64.cat", ARMv8()),
    ("RISC-V", "riscv.cat", RiscV()), ("RISC-V", "riscv.cat", RiscVFences()),
    ("POWER", "ppc.cat", Power()), ("x86", "x86tso.cat", X86()))


def is_reachable(herd, cat, text):
    """What herd7 says of the condition. None: it says nothing, but why."""
    with tempfile.NamedTemporaryFile("w", suffix=".litmus") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([*herd, "-model", cat, file.name],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True, check=False)
    answer = re.search(r"^Observation \S+ (\w+)", done.stdout, re.M)
    if not answer or "Undef" in done.stdout:
        print(text + done.stdout)
        return None
    return answer.group(1) != "Never"


def check(herd, test, verbose):
    """Runs a test and its mutants. Returns the number that are wrong."""
    bad = 0
    cases = [("", test.threads, [])] + [
        ("%s %s" % (label, order), list(test.mutated(label, order)), models)
        for label, order, models in test.weaker]
    for name, threads, reachable in cases:
        for model, cat, processor in RUNS:
            if name and isinstance(processor, RiscVFences):
                continue
            text = (in_assembler(test, threads, processor) if processor
                    else in_c(test, threads))
            answer = is_reachable(herd, cat, text)
            wanted = model in reachable
            if answer is not wanted:
                bad += 1
                print("%s %s, %s%s: %s, not %s" % (
                    test.name, name or "as it is", model,
                    " (fences)" if isinstance(processor, RiscVFences) else "",
                    answer, wanted))
            if verbose:
                print(text)
    return bad


def main(arguments):
    verbose = "-v" in arguments
    paths = [path for path in arguments if path != "-v"]
    folder = os.path.join(HERE, "weak")
    paths = paths or sorted(os.path.join(folder, name)
                            for name in os.listdir(folder)
                            if name.endswith(".litmus"))
    tests = [Test(path) for path in paths]
    program = shutil.which(os.environ.get("SENNIT_HERD", "herd7"))
    if not program:
        print("skipped: no herd7")
        return 77
    herd = [program]
    if os.environ.get("SENNIT_HERD_LIB"):
        herd += ["-set-libdir", os.environ["SENNIT_HERD_LIB"]]
    bad = sum(check(herd, test, verbose) for test in tests)
    print("%d tests, %d mutants, %d verdicts are wrong" % (
        len(tests), sum(len(test.weaker) for test in tests), bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
