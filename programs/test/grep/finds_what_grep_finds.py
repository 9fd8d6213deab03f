#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On the sources of the project and on a made tree sennit-grep -r prints the
lines that grep -r prints, with every number of workers, and always in one
order."""
import os
import random
import sys

from grep import as_grep, lines, need_grep_P, ours, put
from program import equal, in_folder

need_grep_P()
PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
FOLDERS = "core/src", "core/include/", "io", "docs"


def project():
    os.chdir(PROJECT)
    for arguments in ["-rn", "sennit_group_spawn"], ["-rnw", "fiber"], \
            ["-rci", "DEADLINE"], ["-rl", r"\bfork\b"], ["-rFn", "(void)"], \
            ["-rn", r"^\s*switch \(\w+->\w+\)"], \
            ["-rh", r"(?<=sn_)steal_\w+"]:
        out = as_grep(*arguments, *FOLDERS)
        for workers in "-j1", "-j7":
            equal(ours(workers, *arguments, *FOLDERS)[1], out, workers)


def tree(seed):
    chance = random.Random(seed)
    for i in range(150):
        path = "/".join(chance.choice("abc.d") for _ in
                        range(chance.randint(0, 4))) or "."
        rows = ["".join(chance.choices("ab c_x", k=chance.randint(0, 12)))
                for _ in range(chance.randint(0, 30))]
        end = chance.choice(["", "\n"])
        put("%s/f%d" % (path, i), ("\n".join(rows) + end).encode())
    for arguments in ["-rn", "ab"], ["-rn", "a*"], ["-rc", "^a|x$"], \
            ["-rn", "^$"], ["-rnw", "ab"], ["-rniw", "A_?B"], ["-rl", "x x"], \
            ["-rc", r"\W"], ["-rn", r"a\Wb"], ["-rn", r"a[^x]b"], \
            ["-rn", r"b\s*a"], ["-rn", r"x(?!b)"], ["-rFn", ""], \
            ["-rn", r"(a|b)\1"], ["-rnF", "b c"], ["-rnFi", "B C"], \
            ["-rnFw", "c"], ["-rn", "ab*c"], ["-rn", "ab?b c"], \
            ["-rc", "a{0,2}b_"], ["-rc", "x(ab)*cb"], ["-rc", "ab+x [ab]b"], \
            ["-rc", "xa|b_b"], ["-rc", r"[]a]b\_[^]b]c"], ["-rcw", "ab.x"], \
            ["-rc", r"ab\Bxb*"], ["-rci", "AB.X"], ["-rc", "(?:ab)?cx"], ["-rn", r"\Aa"], ["-rn", r"x\z"], ["-rn", "b++c"]:
        as_grep(*arguments)
    as_grep("-rn", "ab", ".", "a/")
    listed = ours("-rl", "")[1].decode().splitlines()
    equal(listed, sorted(listed, key=lambda path: path.split("/")), "order")


seed = int(os.environ.get("SENNIT_TEST_SEED", random.randrange(2**32)))
try:
    in_folder(lambda: tree(seed))
    project()
except AssertionError:
    print("SENNIT_TEST_SEED=%d" % seed, file=sys.stderr)
    raise
