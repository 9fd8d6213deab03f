# SPDX-License-Identifier: Apache-2.0
"""Runs sennit-grep, which $SENNIT_GREP names, and GNU grep beside it, in the C
locale. What differs is the name of the program and the order of files."""
import os
import subprocess
import sys

from program import equal

OURS = os.environ["SENNIT_GREP"]
os.environ["LC_ALL"] = "C"


def need_grep_P():
    done = subprocess.run(["grep", "-P", "a"], input=b"a", capture_output=True)
    if done.returncode:
        print("skipped: grep has no -P:", done.stderr.decode())
        sys.exit(77)


def ours(*arguments, data=b"", **more):
    """Returns (status, output, messages)."""
    if "stdin" not in more:
        more["input"] = data
    done = subprocess.run([OURS, *arguments], timeout=300,
                          capture_output=True, **more)
    return done.returncode, done.stdout, done.stderr


def lines(data):
    return sorted(data.split(b"\n"))


def as_grep(*arguments, data=b"", **more):
    """Compares output, sorted, messages, sorted, and status. Returns ours."""
    mode = [] if "F" in arguments[0] else ["-P"]
    done = subprocess.run(["grep", *mode, *arguments], input=data, timeout=300,
                          capture_output=True, **more)
    status, out, said = ours(*arguments, data=data, **more)
    out_too = out.replace(b"sennit-grep: ", b"grep: ")
    equal(lines(out_too), lines(done.stdout), arguments)
    equal(lines(said.replace(b"sennit-grep: ", b"grep: ")),
          lines(done.stderr), arguments)
    equal(status, done.returncode, arguments)
    return out


def put(name, data):
    folder = os.path.dirname(name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(name, "wb") as file:
        file.write(data)
