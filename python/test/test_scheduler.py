# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import signal
import subprocess
import sys
import threading
import unittest

import cffi
import sennit
from stage import Case, address, c, callbacks, program


class SchedulerTest(Case):

    def test_c_functions_run_on_fibers(self):
        with sennit.Scheduler(2) as s:
            self.assertEqual(s.submit_c(address("on_fiber")).result(), 1)

    def test_each_c_function_runs_once(self):
        before = callbacks.counted()
        with sennit.Scheduler(2) as s:
            for _ in range(1000):
                s.submit_c(address("count"))
        self.assertEqual(callbacks.counted(), before + 1000)

    def test_a_callback_of_another_type_is_refused(self):
        with sennit.Scheduler(1) as s:
            for function in (address("counted"), 7, None, sennit.ffi.NULL):
                with self.assertRaises(TypeError):
                    s.submit_c(function)
            with self.assertRaises(TypeError):
                s.submit(7)

    def test_a_library_with_another_libsennit_is_refused(self):
        foreign = c.dlopen(os.environ["SENNIT_FOREIGN"])
        with sennit.Scheduler(1) as s:
            for owner in s, None:
                with contextlib.ExitStack() as stack:
                    if owner is None:
                        owner = stack.enter_context(s.group())
                    with self.assertRaisesRegex(RuntimeError, "foreign.so"):
                        owner.submit_c(c.addressof(foreign, "count"))
            # Of a library that uses none.
            memory = cffi.FFI()
            memory.cdef("void free(void *);")
            free = memory.addressof(memory.dlopen(None), "free")
            s.submit_c(free).result()

    def test_close_waits_for_outstanding_work(self):
        gate = sennit.WaitGroup(1)
        s = sennit.Scheduler(1)
        futures = [s.submit_c(address("wait_for"), gate.pointer),
                   s.submit(gate.wait)]
        with self.assertRaises(TimeoutError):
            s.close(timeout=0.01)
        self.assertFalse(any(f.done() for f in futures))
        with self.assertRaises(RuntimeError):  # closing
            s.submit(print)
        gate.done()
        s.close()
        self.assertTrue(all(f.done() for f in futures))
        s.close()  # does nothing

    def test_threads_close_at_once(self):
        for _ in range(20):
            s = sennit.Scheduler(1)
            s.submit_c(address("count"))
            closers = [threading.Thread(target=s.close) for _ in range(4)]
            for closer in closers:
                closer.start()
            for closer in closers:
                closer.join()

    def test_a_callable_cannot_close_its_own_scheduler(self):
        with sennit.Scheduler(1) as s:
            with self.assertRaises(RuntimeError):
                s.submit(s.close).result()

    def test_a_bad_config_is_an_oserror(self):
        with self.assertRaises(ValueError):
            sennit.Scheduler(-1)
        with self.assertRaises(OSError) as raised:
            sennit.Scheduler(4, max_fibers=1)
        self.assertEqual(raised.exception.errno, 22)

    def test_a_scheduler_that_was_refused_is_dropped_in_silence(self):
        said, status = program("""
import sennit
for workers in (-1, 5000):
    try:
        sennit.Scheduler(workers)
    except ValueError:
        print('refused')
""")
        self.assertEqual((said, status), ("refused\n" * 2, 0))

    def test_a_scheduler_that_is_dropped_warns_and_ends(self):
        said, status = program("""
import sennit
s = sennit.Scheduler(1)
s.submit(int).result()
del s  # the job has let go of it
""", PYTHONWARNINGS="always")
        self.assertIn("was not closed", said)
        self.assertEqual(status, 0, said)

    def test_who_has_a_result_holds_the_scheduler_alone(self):
        with sennit.Scheduler(1) as s:
            alone = sys.getrefcount(s)
            for _ in range(3000):
                s.submit(int).result()
                self.assertEqual(sys.getrefcount(s), alone)

    def test_the_interpreter_ends_after_outstanding_work(self):
        # A thread that asks for the GIL of an interpreter that has ended is
        # ended by it, and sennit aborts.
        said, status = program("""
import sennit, threading, time
s = sennit.Scheduler(1)
gate = threading.Event()
def late():
    gate.wait()
    time.sleep(0.2)
    print('late')
s.submit(late)
gate.set()
""")
        self.assertEqual((said, status), ("late\n", 0))

    def test_a_child_of_a_fork_ends_without_the_workers(self):
        said, status = program("""
import os, sys, sennit
s = sennit.Scheduler(1)
gate = sennit.WaitGroup(1)
f = s.submit(gate.wait)
child = os.fork()
if not child:
    try:
        s.submit(print)
    except RuntimeError:
        with sennit.Scheduler(1) as own:
            sys.exit(own.submit(lambda: 3).result())
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
gate.done()
s.close()
sys.exit(status)
""")
        self.assertEqual(status, 3, said)

    def test_a_signal_ends_a_wait_of_the_main_thread(self):
        child = subprocess.Popen([sys.executable, "-c", """
import sennit
gate = sennit.WaitGroup(1)
try:
    print('waits', flush=True)
    gate.wait()
except KeyboardInterrupt:
    print('interrupted')
"""], stdout=subprocess.PIPE, text=True)
        with child:
            self.assertEqual(child.stdout.readline(), "waits\n")
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.stdout.readline(), "interrupted\n")

    def test_without_threads_a_callable_is_refused_not_run_on_a_fiber(self):
        said, status = program("""
import sys, sennit
sys.path.insert(0, %r)
from stage import callbacks
s = sennit.Scheduler(1)
callbacks.refuse_threads(1)
try:
    s.submit(print, 'on a fiber').result()
except OSError as e:
    print(e.errno)
callbacks.refuse_threads(0)
s.submit(print, 'on a thread').result()
s.close()
""" % os.path.dirname(__file__), LD_PRELOAD=os.environ["SENNIT_CALLBACKS"])
        self.assertEqual((said, status), ("11\non a thread\n", 0))


if __name__ == "__main__":
    unittest.main()
