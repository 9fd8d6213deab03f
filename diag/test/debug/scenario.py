#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# scenario.py - the commands of a scenario in diag/docs/debugging.md print what the
# document shows.
#
# usage: scenario.py NAME
#
# The scenario is the section in which a link names examples/debug/NAME.c. Its
# commands are the lines with "$ " of the blocks marked ```console, and run in
# this order, each by one shell, in an empty folder. The lines below a command
# are what it prints. What differs from run to run may be anything of its kind:
# addresses and offsets, numbers of frames, fibers, threads and processes,
# numbers with a unit. All other numbers must be as printed. A line "..." is any
# number of lines, and "..." at the end of a line any text.
#
# Where tasks were spawned is left out: builds with SENNIT_SPAWN_SITES say it.
#
# A command that does not print that yet is given again, for ten seconds, as a
# program may not be as far yet. One that ends with & is given once.
#
# Environment: SCENARIO_PROGRAM, SENNIT_TOP (maybe empty), SOURCE_DIR.
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 10
MASKS = (
    (r"0x[0-9a-f]+", r"0x[0-9a-f]+"),
    (r"(#)\d+ *", r"#\\d+ *"),
    (r"\b(thread|fiber|process) \d+", r"\1 \\d+"),
    (r"\d+(?:\.\d+)?( ?(?:us|ms|s|bytes|KiB|MiB|%)(?!\w))", r"\\d+(?:\\.\\d+)?\1"),
    (r"\d+\.\d+", r"\\d+\\.\\d+"),
)


def pattern(line):
    """The regular expression of a line of the document."""
    if line.strip() == "...":
        return r"(?:.*\n)*?"
    end = r"\n"
    if line.endswith("..."):
        line, end = line[:-3], r".*\n"
    out = ""
    while line:
        for mask, kind in MASKS:
            m = re.match(mask, line)
            if m:
                out += m.expand(kind)
                break
        else:
            m = re.match(r" +|\w|.", line)
            out += " +" if m[0].isspace() else re.escape(m[0])
        line = line[m.end():]
    return " *" + out + end


def commands(name):
    """The pairs of a command and the lines that it prints."""
    with open(os.path.join(os.environ["SOURCE_DIR"], "diag", "docs",
                           "debugging.md"), encoding="utf-8") as f:
        sections = re.split(r"(?m)^#+ ", f.read())
    found = [s for s in sections if "examples/debug/%s.c" % name in s and
             "```console" in s]
    assert len(found) == 1, "%d sections show %s" % (len(found), name)
    pairs = []
    for block in re.findall(r"(?ms)^```console\n(.*?)^```", found[0]):
        for line in block.splitlines():
            if line.startswith("$ "):
                pairs.append((line[2:], []))
            else:
                pairs[-1][1].append(line)
    assert any(lines for _, lines in pairs), "no output is shown"
    return pairs


class Shell:
    """A shell in a folder. What it prints goes to a file."""

    def __init__(self, folder):
        self.said = open(os.path.join(folder, ".said"), "w+b")
        self.shell = subprocess.Popen(
            ["sh"], cwd=folder, stdin=subprocess.PIPE, stdout=self.said,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.turn = 0

    def give(self, command):
        """Run the command. Returns the end of what was printed before."""
        before = os.fstat(self.said.fileno()).st_size
        self.turn += 1
        done = ".done%d" % self.turn
        self.shell.stdin.write("%s\n: >%s\n" % (command, done))
        self.shell.stdin.flush()
        end = time.monotonic() + 60
        while not os.path.exists(os.path.join(self.shell_folder(), done)):
            assert time.monotonic() < end, "%s does not end" % command
            time.sleep(0.01)
        return before

    def shell_folder(self):
        return os.path.dirname(self.said.name)

    def since(self, before):
        with open(self.said.name, "rb") as f:
            f.seek(before)
            said = f.read().decode(errors="replace")
        return re.sub(r"(?m), spawned at .*$|^ *spawned at .*\n", "", said)

    def end(self):
        os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()


def check(shell, command, lines):
    wanted = re.compile("".join(pattern(line) for line in lines))
    end = time.monotonic() + PATIENCE
    before = shell.give(command)
    while not wanted.fullmatch(shell.since(before)):
        if time.monotonic() > end:
            print("$ %s\n%s--- in diag/docs/debugging.md:\n%s" % (
                command, shell.since(before), "\n".join(lines)))
            sys.exit(1)
        time.sleep(0.1)
        if not command.endswith("&"):
            before = shell.give(command)


def main():
    name = sys.argv[1]
    program = os.environ["SCENARIO_PROGRAM"]
    top = os.environ.get("SENNIT_TOP", "")
    pairs = commands(name)
    if not top and any("sennit-top" in command for command, _ in pairs):
        print("skipped: sennit-top is not built")
        sys.exit(77)
    os.environ["PATH"] = os.path.dirname(top) + ":" + os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(program, os.path.join(folder, name))
        shell = Shell(folder)
        try:
            for command, lines in pairs:
                check(shell, command, lines)
        finally:
            shell.end()


main()
