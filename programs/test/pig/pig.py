# SPDX-License-Identifier: Apache-2.0
"""Runs sennit-pig, which $SENNIT_PIG names, and gzip and pigz beside it."""
import os
import random
import shutil
import subprocess
import sys

from program import equal

PIG = os.environ["SENNIT_PIG"]
BLOCK = 128 << 10


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            print("skipped: there is no", program)
            sys.exit(77)


def pig(*arguments, data=b"", status=0, **more):
    """Returns (output, messages)."""
    done = subprocess.run([PIG, *arguments], input=data, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          **more)
    said = done.stderr.decode(errors="replace")
    equal(done.returncode, status, "status of %s: %s" % (arguments, said))
    return done.stdout, said


def run(program, *arguments, data=b"", status=0):
    done = subprocess.run([program, *arguments], input=data, timeout=300,
                          capture_output=True)
    equal(done.returncode, status, program + done.stderr.decode())
    return done.stdout


def text(size, seed=1):
    """Bytes that compress as text does: words of a skewed choice."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(1, 9)))
             for _ in range(2000)]
    out = " ".join(words[int(2000 * chance.random() ** 3)]
                   for _ in range(size // 3 + 1))
    return out.encode()[:size]


def noise(size, seed=1):
    return random.Random(seed).randbytes(size)


def put(name, data):
    with open(name, "wb") as file:
        file.write(data)


def get(name):
    with open(name, "rb") as file:
        return file.read()
