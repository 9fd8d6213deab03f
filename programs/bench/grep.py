#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grep.py PROGRAM [FOLDER [ROUNDS]] - sennit-grep beside ripgrep with two
threads, grep -r, and two processes of grep at once by xargs, on the same files:
/usr/include if none are given. Output goes to /dev/null by a pipe and cat, since
some programs do less if they see /dev/null itself."""
import os
import shutil
import subprocess
import sys

from compare import compare, head

WORK = {"word": ["socket"], "rare word": ["sigaltstack"],
        "ignore case": ["-i", "socket"],
        "expression": [r"\w+_t \*\w+\(void"]}


def main(program, folder="/usr/include", rounds=5):
    os.environ["LC_ALL"] = "C"
    head()
    for title, what in WORK.items():
        commands = {"ripgrep": ["rg", "-j2", "-uuu", "--no-unicode", "-n"],
                    "sennit-grep": [program, "-j2", "-rn"],
                    "grep -r": ["grep", "-rnP"]}
        for name in list(commands):
            if not shutil.which(commands[name][0]):
                print("# left out: there is no", name)
                del commands[name]
                continue
            commands[name] += [*what, folder]
        quoted = " ".join("'%s'" % word for word in what)
        commands["xargs grep"] = [
            "sh", "-c", "find '%s' -type f -print0 | "
            "xargs -0 -P2 -n 500 grep -nP %s || [ $? = 123 ]" %
            (folder, quoted)]
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as reader:
            compare(title, commands, int(rounds), reader.stdin)
            reader.stdin.close()


main(*sys.argv[1:])
