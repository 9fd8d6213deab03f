# SPDX-License-Identifier: Apache-2.0
import asyncio
import unittest

import sennit
from stage import Case, address, c


class AsyncioTest(Case):

    def test_a_loop_gathers_a_thousand_futures(self):
        numbers = c.new("int[1000]", list(range(1000)))

        async def main(s):
            return await asyncio.gather(*(
                s.submit_c(address("square"), numbers + n)
                for n in range(1000)))

        with sennit.Scheduler(2) as s:
            self.assertEqual(asyncio.run(main(s)),
                             [n * n for n in range(1000)])

    def test_the_loop_runs_while_a_future_is_awaited(self):
        async def main(s):
            gate = sennit.WaitGroup(1)
            f = s.submit_c(address("wait_for"), gate.pointer)
            asyncio.get_running_loop().call_soon(gate.done)
            return await f  # ends only if the loop calls gate.done

        with sennit.Scheduler(1) as s:
            self.assertEqual(asyncio.run(main(s)), 0)

    def test_exceptions_come_out_of_await(self):
        async def main(s):
            with self.assertRaises(ZeroDivisionError):
                await s.submit(divmod, 1, 0)
            with self.assertRaises(OSError):
                await s.submit_c(address("fail"))

        with sennit.Scheduler(1) as s:
            asyncio.run(main(s))

    def test_an_await_that_is_given_up_does_no_harm(self):
        async def main(s, gate):
            f = s.submit_c(address("wait_for"), gate.pointer)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(f, 0.01)
            gate.done()
            self.assertEqual(await f, 0)

        with sennit.Scheduler(1) as s:
            asyncio.run(main(s, sennit.WaitGroup(1)))

    def test_a_loop_may_end_before_the_future(self):
        gate = sennit.WaitGroup(1)

        async def main(s):
            f = s.submit_c(address("wait_for"), gate.pointer)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(f, 0.01)

        with sennit.Scheduler(1) as s:
            for _ in range(3):
                asyncio.run(main(s))
                gate.done()
                gate.add()
            gate.done()


if __name__ == "__main__":
    unittest.main()
