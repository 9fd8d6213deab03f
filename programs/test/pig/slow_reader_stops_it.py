#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When the output is not read, reading stops after the blocks that may be under
way: memory does not grow with the input. Then all of it arrives."""
import os
import select
import signal
import subprocess

from pig import BLOCK, PIG, noise, pig
from program import check, equal

WORKERS = 2
BOUND = (2 * WORKERS + 2) * BLOCK + 2 * (1 << 20)  # and two pipes


def feed(stdin, data):
    """Returns how much is taken until nothing is taken for a while."""
    os.set_blocking(stdin, False)
    at = 0
    while at < len(data) and select.select([], [stdin], [], 0.7)[1]:
        at += os.write(stdin, data[at:at + 65536])
    os.set_blocking(stdin, True)
    return at


data = noise(8 << 20)
child = subprocess.Popen([PIG, "-1", "-p", str(WORKERS)],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
try:
    taken = feed(child.stdin.fileno(), data)
    check(taken <= BOUND, taken, "bytes were taken")
    out, _ = child.communicate(data[taken:], timeout=300)
    equal(child.returncode, 0, "status")
finally:
    child.kill()
    child.wait()
check(pig("-d", data=out)[0] == data, "other bytes")

# A reader that goes away ends it.
child = subprocess.Popen([PIG], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
child.stdout.close()
child.stdout = None
_, said = child.communicate(data, timeout=300)
equal((child.returncode, said), (-signal.SIGPIPE, b""), "end")
