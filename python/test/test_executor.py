# SPDX-License-Identifier: Apache-2.0
import asyncio
import concurrent.futures
import gc
import os
import sys
import threading
import unittest
import weakref

import sennit
from sennit import future
from stage import Case, program


class ExecutorTest(Case):

    def setUp(self):
        super().setUp()
        self.scheduler = sennit.Scheduler(1, max_callables=2)

    def tearDown(self):
        self.scheduler.close()
        del self.scheduler
        for thread in threading.enumerate():
            if thread.name == "sennit-callbacks":
                thread.join()
        super().tearDown()

    def test_the_functions_of_concurrent_futures_take_its_futures(self):
        gate = threading.Event()
        with self.scheduler.executor() as executor:
            slow = executor.submit(gate.wait)
            fast = executor.submit(divmod, 7, 2)
            done, rest = concurrent.futures.wait(
                [slow, fast], return_when=concurrent.futures.FIRST_COMPLETED)
            self.assertEqual((done, rest), ({fast}, {slow}))
            self.assertEqual(fast.result(), (3, 1))
            gate.set()
            ended = concurrent.futures.as_completed([slow, fast])
            self.assertEqual(set(ended), {slow, fast})
            self.assertEqual(list(executor.map(pow, [2, 3], [4, 5])),
                             [16, 243])

    def test_asyncio_runs_callables_in_it(self):
        async def main(executor):
            loop = asyncio.get_running_loop()
            calls = [loop.run_in_executor(executor, pow, 2, n)
                     for n in range(100)]
            with self.assertRaises(ZeroDivisionError):
                await loop.run_in_executor(executor, divmod, 1, 0)
            return await asyncio.gather(*calls)

        with self.scheduler.executor() as executor:
            self.assertEqual(asyncio.run(main(executor)),
                             [2 ** n for n in range(100)])

    def test_what_has_not_begun_is_cancelled(self):
        gate = threading.Event()
        executor = self.scheduler.executor()
        begun = threading.Semaphore(0)

        def hold():
            begun.release()
            gate.wait()

        holds = [executor.submit(hold) for _ in range(2)]
        begun.acquire()
        begun.acquire()
        late = [executor.submit(self.fail) for _ in range(3)]
        self.assertTrue(late[0].cancel())
        executor.shutdown(wait=False, cancel_futures=True)
        self.assertTrue(all(f.cancelled() for f in late))
        self.assertFalse(any(f.done() for f in holds))
        with self.assertRaises(RuntimeError):
            executor.submit(int)
        gate.set()
        executor.shutdown()
        self.assertTrue(all(f.done() for f in holds))
        self.assertEqual(self.scheduler.submit(int).result(), 0)

    def test_a_closed_scheduler_refuses_and_keeps_nothing(self):
        s = sennit.Scheduler(1)
        executor = s.executor()
        s.close()
        with self.assertRaises(RuntimeError):
            executor.submit(int)
        executor.shutdown()

    def test_what_has_failed_is_dropped_without_the_collector(self):
        def fail(_):
            return 1 // 0

        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        argument = Argument()
        alone = sys.getrefcount(argument)
        with self.scheduler.executor() as executor:
            f = executor.submit(fail, argument)
            self.assertIsInstance(f.exception(), ZeroDivisionError)
        reference = weakref.ref(f)
        del f
        self.scheduler.close()  # the calls of _fail, too, have ended
        for thread in threading.enumerate():
            if thread.name == "sennit-callbacks":
                thread.join()
        future.reap()
        self.assertIsNone(reference())
        self.assertEqual(sys.getrefcount(argument), alone)

    def test_without_threads_a_call_fails(self):
        said, status = program("""
import sys, sennit
sys.path.insert(0, %r)
from stage import address, callbacks
s = sennit.Scheduler(1)
gate = sennit.WaitGroup(1)
held = s.submit_c(address('wait_for'), gate.pointer)
held.add_done_callback(repr)  # whose thread runs from here on
executor = s.executor()
callbacks.refuse_threads(1)
try:
    executor.submit(print, 'on a fiber').result()
except OSError as e:
    print(e.errno)
gate.done()
callbacks.refuse_threads(0)
executor.submit(print, 'on a thread').result()
executor.shutdown()
s.close()
""" % os.path.dirname(__file__), LD_PRELOAD=os.environ["SENNIT_CALLBACKS"])
        self.assertEqual((said, status), ("11\non a thread\n", 0))


class Argument:
    pass


if __name__ == "__main__":
    unittest.main()
