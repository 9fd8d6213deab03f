#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Truncated, changed and foreign input ends with 1 and one line, or 2 where only
what follows the last member is foreign. No target is made of it."""
import os
import random
import sys

from pig import PIG, BLOCK, noise, pig, put, run, text
from program import check, equal, in_folder

data = text(BLOCK + 5000)
packed = pig("-p", "2", data=data)[0]


def refused(bad, word):
    for option in "-d", "-t":
        out, said = pig(option, data=bad, status=1)
        check(said.startswith("sennit-pig: standard input: ") and
              said.count("\n") == 1 and word in said, said)


def truncated():
    for size in 0, 1, 2, 9, 12, 500, len(packed) // 2, len(packed) - 9, \
            len(packed) - 8, len(packed) - 1:
        refused(packed[:size], "not in gzip" if size == 1 else
                "unexpected end of file")


def changed(seed):
    chance = random.Random(seed)
    for _ in range(20):
        at = chance.randrange(10, len(packed))
        bad = bytearray(packed)
        bad[at] ^= 1 << chance.randrange(8)
        out, _ = pig("-d", data=bytes(bad), status=1)
        check(out != data, "all bytes, seed", seed, "at", at)
    for at in range(8):
        bad = bytearray(packed)
        bad[-1 - at] ^= 1
        refused(bytes(bad), "incorrect ")


def foreign():
    refused(b"#!/bin/sh\n", "not in gzip format")
    refused(noise(5000)[1:], "not in gzip format")
    out, said = pig("-d", data=packed + b"more", status=2)
    check(out == data and "garbage" in said, said)


def files():
    put("a.gz", packed[:-4])
    put("b.gz", packed)
    put("c", b"no suffix")
    pig("-d", "a.gz", "b.gz", status=1)
    equal(sorted(os.listdir()), ["a.gz", "b", "c"], "files")
    check("unknown suffix" in pig("-d", "c", status=2)[1], "c")
    pig("-t", "c", status=1)


seed = int(os.environ.get("SENNIT_TEST_SEED", random.randrange(2**32)))
try:
    truncated()
    changed(seed)
    foreign()
    in_folder(files)
except AssertionError:
    print("SENNIT_TEST_SEED=%d" % seed, file=sys.stderr)
    raise
