# SPDX-License-Identifier: Apache-2.0
import threading
import unittest

import sennit
from stage import Case, address


class SyncTest(Case):

    def test_threads_pass_objects_through_a_channel(self):
        channel = sennit.Channel(2)
        got = []

        def receive():
            got.extend(channel)

        receivers = [threading.Thread(target=receive) for _ in range(3)]
        for receiver in receivers:
            receiver.start()
        for n in range(300):
            channel.send((n, str(n)))
        channel.close()
        for receiver in receivers:
            receiver.join()
        self.assertEqual(sorted(got), [(n, str(n)) for n in range(300)])
        self.assertEqual(channel._objects, {})

    def test_a_closed_channel_is_a_broken_pipe(self):
        channel = sennit.Channel(None)
        channel.send("held")
        channel.close()
        with self.assertRaises(BrokenPipeError):
            channel.send("late")
        self.assertEqual(channel.receive(), "held")
        with self.assertRaises(BrokenPipeError):
            channel.receive()

    def test_a_value_that_is_not_sent_is_not_kept(self):
        channel = sennit.Channel()
        for timeout in (0, 0.01):
            with self.assertRaises(TimeoutError):
                channel.send("nobody receives", timeout)
            with self.assertRaises(TimeoutError):
                channel.receive(timeout)
        self.assertEqual(channel._objects, {})
        with self.assertRaises(TypeError):
            sennit.Channel(1, "int").send("no number")

    def test_c_sends_to_python(self):
        channel = sennit.Channel(0, "int")
        with sennit.Scheduler(1) as s:
            f = s.submit_c(address("send_ten"), channel.pointer, channel)
            self.assertEqual(list(channel), list(range(10)))
            self.assertEqual(f.result(), 0)

    def test_a_wait_group_waits_for_zero(self):
        group = sennit.WaitGroup()
        group.wait()
        group.add(2)
        self.assertFalse(group.done())
        with self.assertRaises(TimeoutError):
            group.wait(0.01)
        self.assertTrue(group.done())
        group.wait()


if __name__ == "__main__":
    unittest.main()
