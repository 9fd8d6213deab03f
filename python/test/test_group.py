# SPDX-License-Identifier: Apache-2.0
import gc
import os
import signal
import sys
import unittest
import weakref

import sennit
from sennit import future
from stage import Case, address


class GroupTest(Case):

    def setUp(self):
        super().setUp()
        self.scheduler = sennit.Scheduler(2)

    def tearDown(self):
        self.scheduler.close()
        del self.scheduler
        super().tearDown()

    def test_the_block_ends_after_its_members(self):
        with self.scheduler.group() as group:
            members = [group.submit(int, n) for n in range(10)]
            members.append(group.submit_c(address("count")))
        self.assertTrue(all(m.done() for m in members))
        self.assertEqual(sum(m.result() or 0 for m in members), 45)

    def test_members_submit_members(self):
        def tree(group, depth):
            if depth:
                for _ in range(2):
                    group.submit(tree, group, depth - 1)
            ends.append(depth)

        ends = []
        with self.scheduler.group() as group:
            group.submit(tree, group, 4)
        self.assertEqual(len(ends), 31)

    def test_an_exception_cancels_the_others(self):
        with self.assertRaises(ZeroDivisionError):
            with self.scheduler.group() as group:
                other = group.submit_c(address("stay"))
                group.submit(divmod, 1, 0)
        with self.assertRaises(sennit.Cancelled):
            other.result()

    def test_an_error_of_c_cancels_callables_that_ask(self):
        def ask(group, begun):
            begun.done()
            while not group.cancelled():
                pass
            return "asked"

        begun = sennit.WaitGroup(1)
        with self.assertRaises(OSError) as raised:
            with self.scheduler.group() as group:
                asked = group.submit(ask, group, begun)
                begun.wait()
                group.submit_c(address("fail"))
        self.assertEqual(raised.exception.errno, 5)
        self.assertEqual(asked.result(), "asked")

    def test_cancel_ends_waits(self):
        # The words are those of sennit_strerror.
        with self.assertRaisesRegex(sennit.Cancelled, "group"):
            with self.scheduler.group() as group:
                group.submit_c(address("stay"))
                group.cancel()
                with self.assertRaises(sennit.Cancelled):
                    group.submit_c(address("count"))

    def test_an_exception_of_the_block_cancels_and_goes_on(self):
        with self.assertRaises(KeyError):
            with self.scheduler.group() as group:
                stays = group.submit_c(address("stay"))
                raise KeyError
        self.assertTrue(stays.done())

    def test_a_timeout_ends_waits(self):
        with self.assertRaises(TimeoutError):
            with self.scheduler.group(timeout=0.01) as group:
                group.submit_c(address("stay"))

    def test_strangers_are_refused(self):
        with self.scheduler.group() as group:
            stranger = self.scheduler.submit(group.submit, int)
            with self.assertRaises(RuntimeError):
                stranger.result()
        with self.assertRaises(RuntimeError):
            group.submit(int)  # the group has ended
        with self.assertRaises(RuntimeError):
            with group:
                pass

    def test_ctrl_c_ends_the_block_after_its_members(self):
        with self.assertRaises(KeyboardInterrupt):
            with self.scheduler.group() as group:
                stays = group.submit_c(address("stay"))
                group.submit(os.kill, os.getpid(), signal.SIGINT)
        self.assertIsInstance(stays.exception(), sennit.Cancelled)

    def test_members_that_have_ended_are_let_go(self):
        argument = Argument()
        alone = sys.getrefcount(argument)
        with self.scheduler.group() as group:
            members = [group.submit(lambda x: x, argument) for _ in range(100)]
            members += [group.submit_c(address("count"), keep=argument)
                        for _ in range(100)]
            references = [weakref.ref(member) for member in members]
            sennit.wait_all(members)
            members = None
            group.submit(int).result()  # lets go of the others
            left = [r for r in references if r() is not None]
            self.assertEqual(left, [])
            self.assertEqual(sys.getrefcount(argument), alone)

    def test_what_members_have_raised_is_let_go(self):
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        argument = Argument()
        alone = sys.getrefcount(argument)
        references = []

        def fails():
            with self.scheduler.group() as group:
                for _ in range(3):
                    try:
                        member = group.submit(argument.fail, argument)
                    except sennit.Cancelled:
                        break
                    references.append(weakref.ref(member))
                    del member

        with self.assertRaises(ZeroDivisionError):
            fails()
        future.reap()
        self.assertEqual([r for r in references if r() is not None], [])
        self.assertEqual(sys.getrefcount(argument), alone)


class Argument:

    def fail(self, _):
        return 1 // 0


if __name__ == "__main__":
    unittest.main()
