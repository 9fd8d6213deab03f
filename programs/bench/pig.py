#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pig.py PROGRAM [FILE [ROUNDS]] - sennit-pig beside pigz, both with two
threads, at three levels, on the same file. Without one it is made: 40 MB of
words and 8 MB of random bytes."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

from compare import compare, head


def make(path):
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(1, 9)))
             for _ in range(5000)]
    with open(path, "w") as file:
        for _ in range(40):
            file.write(" ".join(words[int(5000 * chance.random() ** 3)]
                                for _ in range(1 << 18))[:1000000])
    with open(path, "ab") as file:
        file.write(chance.randbytes(8000000))


def sizes(commands):
    for name, command in commands.items():
        out = subprocess.run(command, capture_output=True, check=True).stdout
        print("# %s: %d bytes" % (name, len(out)))


def main(program, path=None, rounds=5):
    if not shutil.which("pigz"):
        raise SystemExit("pig.py: there is no pigz")
    with tempfile.TemporaryDirectory() as folder:
        if not path:
            path = os.path.join(folder, "file")
            make(path)
        head()
        for level in "-1", "-6", "-9":
            commands = {"pigz": ["pigz", "-p2", level, "-c", path],
                        "sennit-pig": [program, "-p2", level, "-c", path]}
            sizes(commands)
            compare("compress" + level, commands, int(rounds))


main(*sys.argv[1:])
