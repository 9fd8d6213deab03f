#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file is replaced by its whole result, with its mode and time, or by nothing:
not after an error, not when the disk is full, not after a signal."""
import os
import resource
import signal
import subprocess

from pig import BLOCK, PIG, get, need, noise, pig, put, run, text
from program import check, end_by_signal, equal, in_folder

need("gzip")
data = text(2 * BLOCK + 99)


def replaced():
    put("a", data)
    os.chmod("a", 0o640)
    os.utime("a", ns=(10**18, 1234567890 * 10**9 + 5))
    _, said = pig("-v", "a")
    check(said.startswith("a: ") and "made a.gz" in said, said)
    equal(os.listdir(), ["a.gz"], "files")
    st = os.stat("a.gz")
    equal((st.st_mode & 0o7777, st.st_mtime_ns),
          (0o640, 1234567890 * 10**9 + 5), "mode and time")
    check(b"a\0" in get("a.gz")[:16], "no name in the head")
    equal(run("gzip", "-lv", "a.gz").split()[-1], b"a", "name")
    pig("-d", "a.gz")
    equal(get("a"), data, "bytes")
    equal(os.stat("a").st_mtime_ns, 1234567890 * 10**9 + 5, "time")
    pig("-k", "a")
    equal(sorted(os.listdir()), ["a", "a.gz"], "kept")
    equal(pig("-nc", "a")[0], pig("-n", data=data)[0], "no name")
    put("t.tgz", get("a.gz"))
    pig("-d", "t.tgz")
    equal(get("t.tar"), data, "tgz")


def left():
    put("a", b"new")
    put("a.gz", b"old")
    os.mkdir("d")
    os.symlink("a", "link")
    os.link("a", "other")
    os.mkfifo("fifo")
    for name, word in ("a.gz", "suffix"), ("d", "directory"), \
            ("link", "symbolic"), ("fifo", "regular"), ("a", "links"):
        check(word in pig(name, status=2)[1], name)
    check("exists" in pig("-k", "a", status=2)[1], "a.gz is replaced")
    check("No such file" in pig("nothing", "d", status=1)[1], "nothing")
    equal((get("a.gz"), get("a")), (b"old", b"new"), "left")
    pig("-fk", "a")
    equal(pig("-dc", "a.gz")[0], b"new", "forced")
    equal(len(os.listdir()), 6, "files")


def full():
    for options in [], ["-d"]:
        with open("/dev/full", "wb") as out:
            done = subprocess.run(
                [PIG, "-p2", *options],
                input=pig(data=data)[0] if options else noise(9 * BLOCK),
                stdout=out, stderr=subprocess.PIPE)
        check(done.returncode == 1 and
              b"standard output: No space left" in done.stderr, done)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (3 * BLOCK, 3 * BLOCK))
    put("a", noise(9 * BLOCK))
    said = pig("-p2", "a", status=1, preexec_fn=limit, restore_signals=False)
    check("a.gz: File too large" in said[1], said)
    equal(os.listdir(), ["a"], "left behind")
    os.mkdir("sub")
    check("a directory" in pig("-c", "sub", status=2)[1], "sub")


def signalled():
    with open("a", "wb") as file:
        file.truncate(1 << 36)
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        end_by_signal(number, PIG, "-p2", "a")


in_folder(replaced, left, full, signalled)
