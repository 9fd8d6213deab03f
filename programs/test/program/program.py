# SPDX-License-Identifier: Apache-2.0
"""What the tests of the programs in programs/ share."""
import os
import subprocess
import tempfile
import time


def check(holds, *what):
    if not holds:
        raise AssertionError(" ".join(str(w) for w in what))


def equal(found, wanted, what=""):
    if found == wanted:
        return
    if isinstance(found, list): # what one has alone
        found, wanted = ([x for x in found if x not in wanted] or found,
                         [x for x in wanted if x not in found] or wanted)
    check(False, what, repr(found)[:200], "is not", repr(wanted)[:200])


def in_folder(*tests):
    """Run each test in an empty folder."""
    for test in tests:
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            os.chmod(".", 0o755) # other users see it
            try:
                test()
            finally:
                os.chdir(before)


def end_by_signal(number, *command):
    """The command runs in a folder with one file, has begun a second, and
    leaves the one."""
    files = os.listdir()
    child = subprocess.Popen(command)
    try:
        end = time.monotonic() + 100
        while len(os.listdir()) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        equal(len(os.listdir()), 2, "no temporary file")
        child.send_signal(number)
        equal(child.wait(timeout=100), -number, "status")
    finally:
        child.kill()
        child.wait()
    equal(os.listdir(), files, "left behind")
