# SPDX-License-Identifier: Apache-2.0
import asyncio
import contextlib
import os
import select
import socket
import tempfile
import unittest

import sennit
from sennit.future import reap
from stage import Case


def address_of(listener):
    host, port = listener.getsockname()[:2]
    return f"{host}:{port}"


@contextlib.contextmanager
def pipe():
    ends = os.pipe()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


def resident():
    """Bytes of memory that this process has."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class IoTest(Case):

    def test_bytes_go_through_a_pipe(self):
        with sennit.Scheduler(1) as s, pipe() as (out, into):
            waits = s.io.read(out, 100)
            self.assertFalse(waits.done())
            s.io.write(into, b"abc").result(60)
            self.assertEqual(waits.result(60), b"abc")

    def test_a_file_has_places(self):
        with sennit.Scheduler(1) as s, tempfile.TemporaryFile() as file:
            data = bytes(range(256)) * 4096
            s.io.pwrite(file, data, 10).result(60)
            self.assertEqual(s.io.pread(file, 20, 0).result(60),
                             bytes(10) + data[:10])
            self.assertEqual(s.io.pread(file, 9, 10 + len(data)).result(60),
                             b"")
            with self.assertRaises(OSError):
                s.io.read(-1, 10).result(60)

    def test_connections_are_sockets(self):
        with sennit.Scheduler(2) as s, \
                sennit.listen("127.0.0.1:0") as listener:
            accepted = s.io.accept(listener)
            client = s.io.connect(address_of(listener), timeout=60).result(60)
            with client, accepted.result(60) as server:
                self.assertIs(accepted.result(), server)
                text = b"x" * 3_000_000
                sends = s.io.send(client, text)
                got = b""
                while len(got) < len(text):
                    got += s.io.recv(server, 1 << 20).result(60)
                sends.result(60)
                self.assertEqual(got, text)
                self.assertEqual(s.io.poll(client, select.POLLOUT).result(60),
                                 select.POLLOUT)
                client.shutdown(socket.SHUT_WR)
                self.assertEqual(s.io.recv(server, 1).result(60), b"")

    def test_a_connection_that_nobody_takes_is_closed(self):
        with sennit.Scheduler(1) as s, \
                sennit.listen("127.0.0.1:0") as listener:
            future = s.io.connect(address_of(listener), timeout=60)
            future.wait(60)
            server = listener.accept()[0]
            del future
            reap()
            with server:  # see also Case.tearDown
                server.settimeout(60)
                self.assertEqual(server.recv(1), b"")

    def test_a_deadline_ends_a_call_and_says_how_far_it_came(self):
        left, right = socket.socketpair()
        with sennit.Scheduler(1) as s, left, right:
            with self.assertRaises(TimeoutError):
                s.io.recv(left, 1, timeout=0.01).result(60)
            text = bytes(range(251)) * 40_000
            with self.assertRaises(TimeoutError) as sent:
                s.io.send(left, text, timeout=0.05).result(60)
            count = sent.exception.characters_written
            self.assertGreater(count, 0)
            got = b""
            while len(got) < count:
                got += s.io.recv(right, 1 << 20).result(60)
            self.assertEqual(got, text[:count])

    def test_a_group_ends_the_calls_of_its_members(self):
        with sennit.Scheduler(1) as s, pipe() as (out, _):
            with self.assertRaises(sennit.Cancelled):
                with s.group() as group:
                    waits = [group.io.read(out, 1) for _ in range(5)]
                    group.cancel()
            for read in waits:
                self.assertIsInstance(read.exception(), sennit.Cancelled)

    def test_a_group_drains_and_then_cancels(self):
        with sennit.Scheduler(1) as s, pipe() as (out, into):
            with s.group() as group:
                read = group.io.read(out, 1)
                self.assertEqual(len(group), 1)
                os.write(into, b"x")
                self.assertTrue(group.drain(60))
                self.assertEqual(len(group), 0)
                self.assertEqual(read.result(), b"x")
            with self.assertRaises(sennit.Cancelled):
                with s.group() as group:
                    read = group.io.read(out, 1)
                    self.assertFalse(group.drain(0.01))
            self.assertIsInstance(read.exception(), sennit.Cancelled)

    def test_the_time_of_a_group_is_brought_forward(self):
        with sennit.Scheduler(1) as s, pipe() as (out, _):
            with self.assertRaises(TimeoutError):
                with s.group(1000) as group:
                    group.io.read(out, 1)
                    group.set_timeout(0.01)
                    group.set_timeout(2000)

    def test_a_group_keeps_no_bytes(self):
        left, right = socket.socketpair()
        block = bytes(1 << 20)
        with sennit.Scheduler(2) as s, left, right, s.group() as group:
            before = None
            for n in range(250):
                sends = group.io.send(right, block)
                count = 0
                while count < len(block):
                    count += len(group.io.recv(left, 1 << 20).result(60))
                sends.result(60)
                if n == 20:
                    before = resident()
            # 230 MiB have passed.
            self.assertLess(resident() - before, 50 << 20)

    def test_a_group_keeps_no_sockets(self):
        with sennit.Scheduler(2) as s, \
                sennit.listen("127.0.0.1:0") as listener, s.group() as group:
            address = address_of(listener)
            before = len(os.listdir("/proc/self/fd"))
            most = 0
            for n in range(200):
                accepted = group.io.accept(listener)
                client = group.io.connect(address).result(60)
                if n % 2:
                    accepted.result(60).close()
                else:
                    accepted.wait(60)  # and nobody takes it
                client.close()
                del accepted, client
                most = max(most, len(os.listdir("/proc/self/fd")))
            # The connection of a call that has ended closes with the next call.
            self.assertLessEqual(most - before, 8)

    def test_a_thousand_wait_without_threads(self):
        with sennit.Scheduler(1) as s, contextlib.ExitStack() as stack:
            pairs = [socket.socketpair() for _ in range(200)]
            for pair in pairs:
                for end in pair:
                    stack.enter_context(end)
            waits = [s.io.recv(left, 10) for left, _ in pairs]
            self.assertEqual(s.stats()["blocking_threads"], 0)
            for n, (_, right) in enumerate(pairs):
                right.send(str(n).encode())
            self.assertEqual([int(wait.result(60)) for wait in waits],
                             list(range(200)))

    def test_await_echoes(self):
        async def serve(s, listener):
            with await s.io.accept(listener) as connection:
                while data := await s.io.recv(connection, 100):
                    await s.io.send(connection, data.upper())

        async def ask(s, address):
            with await s.io.connect(address) as connection:
                await s.io.send(connection, b"hello")
                return await s.io.recv(connection, 100)

        async def both(s):
            with sennit.listen("127.0.0.1:0") as listener:
                return (await asyncio.gather(
                    ask(s, address_of(listener)), serve(s, listener)))[0]

        with sennit.Scheduler(1) as s:
            self.assertEqual(asyncio.run(both(s)), b"HELLO")


class SelectTest(Case):

    @classmethod
    def setUpClass(cls):
        # The library keeps what a thread needs to wait for descriptors.
        with pipe() as (out, _), contextlib.suppress(TimeoutError):
            sennit.select([sennit.readable(out)], 0.001)

    def test_the_case_that_is_possible_is_done(self):
        first, second = sennit.Channel(1), sennit.Channel(1)
        second.send("ready")
        done = sennit.select([first, second], 60)
        self.assertEqual(done, (1, "ready", False))
        done = sennit.select([second, first.sending("sent")], 60)
        self.assertEqual(done, (1, None, False))
        self.assertEqual(first.receive(), "sent")
        with self.assertRaises(TimeoutError):
            sennit.select([first, second], 0.01)

    def test_values_of_other_cases_are_not_kept(self):
        full, empty = sennit.Channel(1), sennit.Channel(1)
        full.send(1)
        for _ in range(10):
            self.assertEqual(
                sennit.select([full.sending(2), empty.sending(3)], 60).case,
                1)
            self.assertEqual(empty.receive(), 3)
        with self.assertRaises(TimeoutError):
            sennit.select([full.sending(2)], 0)
        self.assertEqual(len(full._objects), 1)
        self.assertEqual(len(empty._objects), 0)
        full.receive()

    def test_a_closed_channel_is_a_case_that_is_possible(self):
        channel = sennit.Channel(1)
        channel.close()
        self.assertEqual(sennit.select([channel], 60), (0, None, True))
        self.assertEqual(sennit.select([channel.sending(1)], 60),
                         (0, None, True))
        self.assertEqual(channel._objects, {})

    def test_ready_cases_share(self):
        channels = [sennit.Channel(None, "int") for _ in range(3)]
        for channel in channels:
            for n in range(300):
                channel.send(n)
        counts = [0] * 3
        for _ in range(300):
            counts[sennit.select(channels, 60).case] += 1
        self.assertGreater(min(counts), 30)

    def test_futures_and_descriptors_are_cases(self):
        with sennit.Scheduler(1) as s, pipe() as (out, into):
            never = sennit.Channel()
            gate = sennit.Channel()
            future = s.submit(gate.receive)
            cases = [never, future, sennit.readable(out)]
            with self.assertRaises(TimeoutError):
                sennit.select(cases, 0.01)
            os.write(into, b"x")
            done = sennit.select(cases, 60)
            self.assertEqual(done.case, 2)
            self.assertTrue(done.value & select.POLLIN)
            self.assertEqual(
                sennit.select([sennit.writable(into)], 60).case, 0)
            os.read(out, 1)
            gate.send("through")
            self.assertEqual(sennit.select(cases, 60).case, 1)
            self.assertEqual(future.result(), "through")

    def test_what_is_no_case_is_refused(self):
        for cases in ([], [1], [sennit.Channel()] * 65):
            with self.assertRaises((TypeError, ValueError)):
                sennit.select(cases, 0)


if __name__ == "__main__":
    unittest.main()
