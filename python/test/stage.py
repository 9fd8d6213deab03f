# SPDX-License-Identifier: Apache-2.0
"""What the tests share: the library of callbacks, and a count of leaks."""
import gc
import os
import subprocess
import sys
import unittest

import cffi
import sennit
from sennit import future, native

c = cffi.FFI()
with open(os.path.join(os.path.dirname(__file__), "callbacks.h"),
          encoding="utf-8") as header:
    c.cdef(header.read())
LIBRARY = os.environ["SENNIT_CALLBACKS"]
callbacks = c.dlopen(LIBRARY)


def address(name):
    """A pointer to the function, which cffi calls by value otherwise."""
    return c.addressof(callbacks, name)


class Case(unittest.TestCase):
    """A test that leaves no job, note or descriptor behind."""

    def setUp(self):
        gc.collect()
        self.files = len(os.listdir("/proc/self/fd"))

    def tearDown(self):
        gc.collect()
        future.reap()
        self.assertEqual(future._running, {})
        self.assertEqual(native.lib.live_count(), 0)
        self.assertEqual(len(os.listdir("/proc/self/fd")), self.files)


def program(text, **environment):
    """Runs a program of Python; returns its output and its exit status."""
    done = subprocess.run(
        [sys.executable, "-c", text], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=300, text=True, check=False,
        env={**os.environ, **environment})
    return done.stdout, done.returncode
