#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sennit-pig compresses gzip and pigz decompress, and the reverse, for
sizes around the edges of blocks, with any number of workers. The bytes do not
depend on the number of workers."""
from pig import BLOCK, need, noise, pig, run, text
from program import check, equal

need("gzip", "pigz")
SIZES = [0, 1, 32768, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK,
         2 * BLOCK + 1, 5 * BLOCK + 17]


def both_ways(data, *options):
    packed, _ = pig(*options, data=data)
    check(run("gzip", "-dc", data=packed) == data, options, len(data))
    return packed


for size in SIZES:
    for data in [text(size)] + ([noise(size)] if size % BLOCK == 1 else []):
        one = both_ways(data, "-p", "1")
        equal(pig("-p", "3", data=data)[0], one, "three workers")
        check(pig("-d", data=one)[0] == data, "own decompression of", size)

data = text(3 * BLOCK + 5) + bytes(2 * BLOCK) + noise(BLOCK)
for level in "123456789":
    both_ways(data, "-" + level, "-p", "2")
both_ways(data, "-b", "32", "-p", "2")
both_ways(data, "-b", "16384", "-p", "2")

for program in "gzip", "pigz":
    check(pig("-d", data=run(program, "-c", data=data))[0] == data, program)
several = run("gzip", "-c", data=b"one ") + run("pigz", "-c", data=b"two ") + \
    pig(data=b"three")[0]
equal(pig("-dc", data=several)[0], b"one two three", "three members")
equal(pig("-d", data=several + bytes(700))[0], b"one two three", "padding")
equal(run("pigz", "-dc", data=several), b"one two three", "pigz")
run("gzip", "-t", data=several)
