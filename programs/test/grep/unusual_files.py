#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long lines, bytes of zero, no last newline, no permission, links in circles,
pipes: what grep does with them, sennit-grep does."""
import os
import shutil
import subprocess
import tempfile

import grep
from grep import OURS, as_grep, need_grep_P, ours, put
from program import check, equal, in_folder

need_grep_P()


def contents():
    long = b"x" * 300000
    put("long", long + b"needle" + long + b"\nneedle\n" + long)
    put("only", b"needle")
    put("empty", b"")
    put("newlines", b"\n" * 200000 + b"needle\n\n")
    put("zero", b"a needle\nb\0needle\nneedle\n")
    put("late", b"needle 1\n" * 20000 + b"\0 needle\n")
    put("edge", (b"y" * 98303 + b"\n") * 3 + b"needle")
    put("carriage", b"a needle\r\nneedle\r")
    put("high", bytes(range(128, 256)) + b"needle\n")
    for pattern in "needle", "needle$", "^needle", "n[e]+dle", "n.edle|x{9}n", \
            r"(?<!x)needle", "":
        for options in "-rn", "-rc", "-rl", "-rcw":
            as_grep(options, pattern)
    for name in sorted(os.listdir()):
        as_grep("-n", "needle", name)
    as_grep("-H", "needle", "only")
    as_grep("-h", "needle", "only", "edge", "nothing", "zero")


def places():
    os.makedirs("a/b")
    os.symlink("..", "a/b/up")
    os.symlink("loop", "loop")
    os.symlink("/nowhere", "a/dangling")
    put("a/file", b"needle\n")
    os.symlink("file", "a/link")
    os.symlink("a", "folder")
    os.mkfifo("a/fifo")
    put("a/secret", b"needle\n")
    put("closed/file", b"needle\n")
    os.chmod("a/secret", 0)
    os.chmod("closed", 0)
    user = {"user": 65534} if os.getuid() == 0 else {}
    # Where it was built, that user may have no access.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        grep.OURS = shutil.copy(grep.OURS, folder)
        as_user(user)
        grep.OURS = OURS


def as_user(user):
    as_grep("-rn", "needle", **user)
    as_grep("-rn", "needle", "folder", "a/link", "loop", "nothing", **user)
    as_grep("-rn", "needle", "a//", "./a", **user)
    os.chmod("closed", 0o755)


def streams():
    as_grep("-n", "b", data=b"a\nb\n")
    as_grep("-c", "b", "-", data=b"a\nb\n")
    as_grep("-H", "b", data=b"a\nb")
    as_grep("b", data=b"a\n")
    put("file", b"needle\n" * 100)
    with open("/dev/full", "wb") as out:
        done = subprocess.run([OURS, "needle", "file"], stdout=out,
                              stderr=subprocess.PIPE)
    check(done.returncode == 2 and b"No space left" in done.stderr, done)
    with open("out", "wb") as out:
        done = subprocess.run([OURS, "-r", "needle"], stdout=out,
                              stderr=subprocess.PIPE)
    check(done.returncode == 2 and b"also the output" in done.stderr, done)
    equal(os.path.getsize("out"), 100 * len("file:needle\n"), "output")
    put("big", b"needle needle\n" * 500000)
    child = subprocess.Popen([OURS, "-r", "needle"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    child.stdout.read(10)
    child.stdout.close()
    equal((child.stderr.read(), child.wait(timeout=300)), (b"", -13), "end")
    child.stderr.close()


def with_holes(size, *parts):
    """A file of `size` bytes with the parts at their places, else holes."""
    with open("hole", "wb") as f:
        f.truncate(size)
        for at, part in parts:
            f.seek(at)
            f.write(part)


def holes():
    """Files with the part at the beginning, in the middle and at the end."""
    end = 1 << 20
    lines = b"a needle\nno\n", b"needle"
    far = b"needle far\n" * 20000  # fills more than a buffer
    for size, parts in [
            (end, []), (end, [(0, lines[0])]), (end, [(end - 6, lines[1])]),
            (end, [(end // 2, lines[0])]), (end, [(end // 2 - 3, lines[1])]),
            (end, [(0, far), (end // 2, lines[0]), (end - 6, lines[1])]),
            (end, [(0, b"no\n" * 50000), (end - 20, lines[0])]),
            (end, [(4096, lines[0] * 3000), (end // 2, far)]),
            (5000, [(0, lines[0])]), (200000, [(0, far[:99000])])]:
        with_holes(size, *parts)
        for pattern in "needle", "^needle", "n.edle|no", "x*", r"a\sneedle":
            for options in "-n", "-c":
                as_grep(options, pattern, "hole")
        with open("hole", "rb") as f:
            content = f.read()
            f.seek(10)
            equal(ours("-c", "needle", stdin=f)[1],
                  as_grep("-c", "needle", data=content[10:]), "from a place")


def a_hole_is_not_read():
    with_holes(1 << 40, (1 << 39, b"a needle\n"), ((1 << 40) - 6, b"needle"))
    child = subprocess.Popen([OURS, "-c", "needle", "hole"],
                             stdout=subprocess.PIPE)
    equal(child.stdout.read(), b"2\n", "holes")
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    with open("/proc/%d/io" % child.pid) as f:
        read = int(f.readline().split()[1])
    equal(child.wait(), 0)
    check(read < 4 << 20, read, "bytes were read")


def deep():
    """A file whose path is longer than the system allows."""
    name = "d" * 200
    here = os.open(".", os.O_DIRECTORY)
    for i in range(60):
        put("file", b"needle %d\n" % i)
        os.mkdir(name)
        os.chdir(name)
    os.fchdir(here)
    os.close(here)
    out = as_grep("-rn", "needle")
    equal(len(out.splitlines()), 60)
    as_grep("-rc", "needle", ".//" + name + "//")


def options():
    check(ours("--help")[1].startswith(b"NAME\n  sennit-grep"), "no help")
    for wrong in [], ["-r"], ["-j0", "a"], ["-j257", "a"], ["-jx", "a"], \
            ["-Q", "a"], ["(", "a"], ["[", "a"], ["a\\", "a"], ["a\nb", "a"], \
            ["-w", "a)(", "a"], ["--color", "a"]:
        status, out, said = ours(*wrong)
        check(status == 2 and said and not out, wrong, status)
    put("file", b"-x (a) \\E\n")
    for right in ["-e", "-x"], ["-F", "(a"], ["-Fi", "\\e"], ["-Fi", "(A) \\"]:
        equal(ours(*right, "file")[0], 0, right)
    put("hard", b"a" * 40 + b"\n")
    status, _, said = ours(r"^(a+)+\1+$x", "hard")
    check(status == 1 or status == 2 and b"steps" in said, status, said)


in_folder(contents, places, streams, holes, a_hole_is_not_read, deep, options)
