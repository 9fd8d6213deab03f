# SPDX-License-Identifier: Apache-2.0
import asyncio
import concurrent.futures
import gc
import sys
import threading
import unittest
import weakref

import sennit
from sennit import future
from stage import Case, address, c, callbacks


class FutureTest(Case):

    def setUp(self):
        super().setUp()
        self.scheduler = sennit.Scheduler(1)

    def tearDown(self):
        self.scheduler.close()
        del self.scheduler
        super().tearDown()

    def test_results_of_c_functions(self):
        seven = c.new("int *", 7)
        s = self.scheduler
        self.assertEqual(s.submit_c(address("square"), seven).result(), 49)
        self.assertIsNone(s.submit_c(address("count")).result())
        line = s.submit_c(address("text")).result()
        self.assertEqual(c.string(c.cast("char *", line)), b"from C")
        with self.assertRaises(OSError) as raised:
            s.submit_c(address("fail")).result()
        self.assertEqual(raised.exception.errno, 5)

    def test_arguments_live_until_the_function_has_run(self):
        gate = sennit.WaitGroup(1)
        f = self.scheduler.submit_c(address("wait_for"), gate.pointer)
        held = self.scheduler.submit_c(
            address("square"), c.new("int *", 9))  # the only reference
        gate.done()
        f.wait()
        self.assertEqual(held.result(), 81)

    def test_results_and_exceptions_of_callables(self):
        s = self.scheduler
        self.assertEqual(s.submit(divmod, 17, 5).result(), (3, 2))
        self.assertEqual(s.submit(dict, a=1).result(), {"a": 1})
        with self.assertRaises(ZeroDivisionError):
            s.submit(divmod, 1, 0).result()
        self.assertIsInstance(s.submit(sys.exit).exception(), SystemExit)
        self.assertIsNone(s.submit(int).exception())

    def test_callables_run_on_threads_of_their_own(self):
        self.assertEqual(self.scheduler.submit(callbacks.unbound).result(), 1)

    def test_callables_that_wait_keep_their_frames(self):
        # One worker. Were two callables on its thread, the first to wait would
        # not be the first to continue.
        gates = [sennit.WaitGroup(1) for _ in range(20)]
        begun = sennit.WaitGroup(len(gates))

        def deep(n, depth):
            if depth:
                return deep(n, depth - 1) + 1
            begun.done()
            gates[n].wait()
            return n * 1000

        futures = [self.scheduler.submit(deep, n, n) for n in range(20)]
        begun.wait()
        for gate, f in zip(gates, futures):
            gate.done()
            f.wait()
        self.assertEqual([f.result() for f in futures],
                         [n * 1001 for n in range(20)])

    def test_a_wait_leaves_the_gil_to_others(self):
        # The GIL changes hands only when its holder gives it up.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        self.addCleanup(sys.setswitchinterval, interval)
        go, gate = sennit.WaitGroup(1), threading.Lock()
        gate.acquire()

        def other():
            with gate:
                go.done()

        thread = threading.Thread(target=other)
        thread.start()
        f = self.scheduler.submit_c(address("wait_for"), go.pointer)
        gate.release()
        self.assertEqual(f.result(), 0)  # only once `other` has run
        thread.join()

    def test_a_wait_ends_at_its_timeout(self):
        gate = sennit.WaitGroup(1)
        f = self.scheduler.submit_c(address("wait_for"), gate.pointer)
        for timeout in (0, -1, 0.01, float("nan")):
            with self.assertRaises(TimeoutError):
                f.result(timeout)
        gate.done()
        self.assertEqual(f.result(float("inf")), 0)

    def test_wait_any_names_the_one_that_is_done(self):
        gates = [sennit.WaitGroup(1) for _ in range(3)]
        futures = [self.scheduler.submit_c(address("wait_for"), g.pointer)
                   for g in gates]
        with self.assertRaises(TimeoutError):
            sennit.wait_any(futures, 0.01)
        gates[1].done()
        self.assertIs(sennit.wait_any(futures), futures[1])
        gates[0].done()
        with self.assertRaises(TimeoutError):
            sennit.wait_all(futures, 0.01)
        gates[2].done()
        sennit.wait_all(futures)
        with self.assertRaises(ValueError):
            sennit.wait_any([])

    def test_a_callable_that_has_not_begun_can_be_cancelled(self):
        gate = sennit.WaitGroup(1)
        begun = threading.Event()

        def hold():
            begun.set()
            gate.wait()

        with sennit.Scheduler(1, max_callables=1) as s:
            first = s.submit(hold)
            begun.wait()
            second = s.submit(self.fail)
            self.assertTrue(first.running() and not first.cancel())
            self.assertFalse(second.running() or second.done())
            self.assertTrue(second.cancel() and second.cancel())
            self.assertTrue(second.cancelled() and second.done())
            with self.assertRaises(concurrent.futures.CancelledError):
                second.result()
            with self.assertRaises(concurrent.futures.CancelledError):
                second.exception()
            gate.done()
            first.result()
            self.assertFalse(first.cancelled() or first.cancel())
            self.assertFalse(first.running())

    def test_a_function_of_c_is_not_cancelled(self):
        gate = sennit.WaitGroup(1)
        f = self.scheduler.submit_c(address("wait_for"), gate.pointer)
        self.assertFalse(f.cancel())
        gate.done()
        self.assertEqual(f.result(), 0)

    def test_callbacks_are_called_once_when_a_call_has_ended(self):
        gate = sennit.WaitGroup(1)
        called = sennit.Channel(None)
        f = self.scheduler.submit_c(address("wait_for"), gate.pointer)

        def failing(_):
            raise ValueError("only logged")

        with self.assertLogs("sennit") as logs:
            f.add_done_callback(failing)
            f.add_done_callback(called.send)
            gate.done()
            self.assertIs(called.receive(), f)
        self.assertIn("only logged", logs.output[0])
        f.add_done_callback(called.send)  # in this thread
        self.assertIs(called.receive(), f)
        g = self.scheduler.submit(divmod, 1, 0)
        g.add_done_callback(lambda g: called.send(g.exception()))
        self.assertIsInstance(called.receive(), ZeroDivisionError)
        for thread in threading.enumerate():
            if thread.name == "sennit-callbacks":
                thread.join()

    def test_a_scheduler_is_an_executor(self):
        self.assertIsInstance(self.scheduler, concurrent.futures.Executor)
        self.assertEqual(list(self.scheduler.map(divmod, [7, 8], [2, 3])),
                         [(3, 1), (2, 2)])
        gate = threading.Event()
        s = sennit.Scheduler(1, max_callables=1)
        first = s.submit(gate.wait)
        while not first.running():
            pass
        second = s.submit(self.fail)
        s.shutdown(wait=False, cancel_futures=True)
        with self.assertRaises(RuntimeError):
            s.submit(int)
        self.assertTrue(second.cancelled())
        gate.set()
        s.shutdown()
        self.assertTrue(first.done())

    def test_a_convert_waits_for_others(self):
        s = self.scheduler
        inner = s.submit_c(address("count"), convert=lambda *_: ("inner", None))
        outer = s.submit_c(address("count"),
                           convert=lambda *_: (inner.result(), None))
        self.assertEqual(outer.result(), "inner")
        # Another thread converts meanwhile.
        begun, converted = threading.Event(), threading.Event()

        def wait_for_other(*_):
            begun.set()
            converted.wait()
            return "first", None

        first = s.submit_c(address("count"), convert=wait_for_other)
        second = s.submit_c(address("count"), convert=lambda *_: (2, None))
        results = []
        threads = [threading.Thread(
            target=lambda: results.append(first.result()))
            for _ in range(2)]
        for thread in threads:
            thread.start()
        begun.wait()
        self.assertEqual(second.result(), 2)
        converted.set()
        for thread in threads:
            thread.join()
        self.assertEqual(results, ["first"] * 2)

    def test_a_convert_that_fails_is_the_outcome(self):
        calls = []

        def fail(*_):
            calls.append(1)
            raise KeyError("converted")

        f = self.scheduler.submit_c(address("count"), convert=fail)
        for _ in range(2):
            with self.assertRaises(KeyError):
                f.result()
        self.assertIsInstance(f.exception(), KeyError)
        self.assertEqual(len(calls), 1)

    def test_a_convert_of_its_own_future_is_refused(self):
        made = []
        f = self.scheduler.submit_c(
            address("count"), convert=lambda *_: (made[0].result(), None))
        made.append(f)
        with self.assertRaises(RuntimeError):
            f.result()

    def test_what_has_failed_is_dropped_without_the_collector(self):
        # The frames of a test are in the exception, too: they have the future
        # in a list, which is emptied.
        async def awaits(futures):
            try:  # a task of asyncio would keep the exception
                await futures[0]
            except ZeroDivisionError:
                pass

        def look(take, futures):
            try:
                take(futures)
            except ZeroDivisionError:
                pass

        def convert(*_):
            raise ZeroDivisionError

        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        s = self.scheduler
        argument = Argument()
        makes = {
            "callable": lambda: s.submit(argument.fail, argument),
            "convert": lambda: s.submit_c(address("count"), keep=argument,
                                          convert=convert),
        }
        takes = {
            "result": lambda futures: futures[0].result(),
            "exception": lambda futures: futures[0].exception(),
            "await": lambda futures: asyncio.run(awaits(futures)),
            "executor": lambda _: list(s.map(argument.fail, [argument])),
        }
        for made, make in makes.items():
            for taken, take in takes.items():
                with self.subTest(made=made, taken=taken):
                    alone = sys.getrefcount(argument)
                    futures = [make()]
                    look(take, futures)
                    futures[0].wait()
                    reference = weakref.ref(futures[0])
                    futures.clear()
                    future.reap()
                    self.assertIsNone(reference())
                    self.assertEqual(sys.getrefcount(argument), alone)


class Argument:

    def fail(self, _):
        return 1 // 0


if __name__ == "__main__":
    unittest.main()
