# SPDX-License-Identifier: Apache-2.0
"""What the tests of sennit-top share: the program that is shown, its folder,
and checks. All is removed at the end, also of a test that fails."""
import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.environ["SENNIT_TOP"]
SHOWN = os.environ["SENNIT_SHOWN"]
GIVE_UP = 100  # seconds: only what hangs takes so long

folder = tempfile.mkdtemp(prefix="sennit-top-")
path = os.path.join(folder, "live")


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def check(holds, claim):
    if not holds:
        raise SystemExit("failed: " + claim)


def run(*arguments, **more):
    """Run sennit-top. Returns the completed process."""
    return subprocess.run([TOP, *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=GIVE_UP,
                          **more)


def start():
    """Start the program that is shown, and wait until it is."""
    shown = subprocess.Popen([SHOWN, path], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    atexit.register(stop, shown)
    shown.pid_printed = shown.stdout.readline().strip()
    check(shown.pid_printed == str(shown.pid), "the program begins")
    return shown


def stop(shown):
    """End the program. Returns its exit status."""
    if shown.poll() is None:
        shown.stdin.close()
    try:
        return shown.wait(GIVE_UP)
    except subprocess.TimeoutExpired:
        shown.kill()
        return shown.wait()


def soon(holds, claim):
    """Wait until holds() is true."""
    end = time.monotonic() + GIVE_UP
    while not holds():
        if time.monotonic() > end:
            raise SystemExit("failed: not soon: " + claim)
        time.sleep(0.05)


atexit.register(shutil.rmtree, folder, True)
