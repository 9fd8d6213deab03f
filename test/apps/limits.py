#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit-httpd at its limits: slow clients, too many of them, no descriptors,
and a stop in the middle of it all."""
import os
import socket
import threading
import time

from server import (Folder, check, httpd, read_all, read_answer, run_all,
                    statuses, wait_until, PATIENCE)

GET = b"GET /hello.txt HTTP/1.1\r\nHost: x\r\n\r\n"


def serving(*options, **more):
    def decorate(test):
        def run():
            with Folder() as folder:
                folder.write("hello.txt", "hello, world\n")
                folder.write("big.bin", bytes(8 << 20))
                with httpd(folder, *options, **more) as server:
                    test(server)
        run.__name__ = test.__name__
        return run
    return decorate


def exchange(s, data=GET):
    s.sendall(data)
    return read_answer(s)


def ends_within(s, least, most, begun):
    answer = read_all(s)
    took = time.monotonic() - begun
    check(least <= took, "after", took)
    check(took < most, "after", took)
    return answer


@serving("--idle-timeout", "0.5")
def an_idle_connection_is_closed(server):
    begun = time.monotonic()
    with server.connect() as s:
        check(ends_within(s, 0.4, PATIENCE, begun) == b"")
    with server.connect() as s:
        begun = time.monotonic()
        check(statuses(exchange(s)) == [200])
        check(ends_within(s, 0.4, PATIENCE, begun) == b"")


@serving("--head-timeout", "0.5")
def a_slow_head_is_answered_with_408(server):
    begun = time.monotonic()
    with server.connect() as s:
        s.sendall(GET[:20])
        answer = ends_within(s, 0.4, PATIENCE, begun)
        check(statuses(answer) == [408], answer)
    with server.connect() as s:  # a byte now and then does not help
        begun = time.monotonic()
        ended = []
        reader = threading.Thread(target=lambda: ended.append(read_all(s)))
        reader.start()
        for i in range(200):
            try:
                s.sendall(b"GET /hello.txt HTTP/1.1\r\nHost: x\r\nX: "[i:i+1]
                          or b"x")
            except OSError:
                break
            if ended:
                break
            time.sleep(0.05)
        reader.join(PATIENCE)
        check(ended and time.monotonic() - begun < 9, "it is held open")
        check(statuses(ended[0]) in ([408], []), ended)


@serving("--body-timeout", "0.5")
def a_slow_body_is_answered_with_408(server):
    for framing in b"Content-Length: 50", b"Transfer-Encoding: chunked":
        begun = time.monotonic()
        with server.connect() as s:
            s.sendall(b"POST /status HTTP/1.1\r\nHost: x\r\n" + framing +
                      b"\r\n\r\n5\r\nhe")
            answer = ends_within(s, 0.4, PATIENCE, begun)
            check(statuses(answer) == [408], answer)


@serving("--send-timeout", "0.5")
def who_does_not_read_is_dropped(server):
    with server.connect() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n" * 4)
        with server.connect() as other:
            def connections():
                answer = exchange(other, b"GET /status HTTP/1.1\r\n"
                                  b"Host: x\r\n\r\n")
                return int(answer.partition(b'"connections":')[2]
                           .partition(b",")[0])
            wait_until(lambda: connections() == 1, "it is dropped")


@serving("--max-connections", "8")
def further_connections_wait_and_are_served(server):
    first = [server.connect() for _ in range(8)]
    more = [server.connect() for _ in range(8)]
    for s in more:
        s.sendall(GET)
    # At the limit a connection ends behind its answer.
    answers = [exchange(s) for s in first]
    check(all(statuses(a) == [200] for a in answers), answers)
    check(any(b"Connection: close" in a for a in answers), answers)
    for s in first:
        s.close()
    for s in more:
        check(statuses(read_answer(s)) == [200])
        s.close()


@serving("--workers", "2", "--cache-valid", "0", limit=40)
def without_descriptors_it_serves_on(server):
    def is_served(s, when):
        answer = exchange(s)
        check(statuses(answer) == [200], (when, answer[:80]))

    first = server.connect()
    is_served(first, "first")
    many = [server.connect() for _ in range(100)]
    wait_until(lambda: len(os.listdir("/proc/%d/fd" % server.process.pid))
               >= 40, "EMFILE")
    # What it keeps it serves; for the rest it has no descriptors.
    is_served(first, "without descriptors")
    answer = exchange(first, b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n")
    check(statuses(answer) == [503], answer[:80])
    for s in many[:80]:
        s.close()
    first.close()
    for s in many[80:]:
        is_served(s, "after others have gone")
        s.close()
    answer = server.talk(GET)
    check(statuses(answer) == [200], answer[:80])


@serving("--workers", "2", "--stop-grace", "30",
         "--stop-timeout", "50")
def a_stop_loses_no_answer(server):
    """Each client asks until the server says that it closes."""
    asked, lost, go_on = [0] * 16, [], []

    def ask(number):
        try:
            with server.connect() as s:
                while True:
                    data = GET if number % 2 else \
                        b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n"
                    answer = exchange(s, data)
                    if statuses(answer)[:1] != [200]:
                        lost.append((number, answer[:60]))
                        return
                    asked[number] += 1
                    if b"Connection: close" in answer:
                        go_on.append(number)
                        return
        except Exception as e:
            lost.append((number, repr(e)))

    clients = [threading.Thread(target=ask, args=(i,)) for i in range(16)]
    for c in clients:
        c.start()
    # Who connects after the stop is refused.
    wait_until(lambda: all(asked) and sum(asked) > 200 or lost, "200 answers")
    status = server.stop()
    for c in clients:
        c.join(PATIENCE)
    check(not lost, lost)
    check(len(go_on) == 16, go_on)
    check(status == 0, status)


@serving("--stop-grace", "0")
def a_stop_with_idle_connections_is_quick(server):
    idle = [server.connect() for _ in range(50)]
    for s in idle:
        check(statuses(exchange(s)) == [200])
    begun = time.monotonic()
    check(server.stop() == 0)
    check(time.monotonic() - begun < 8, "slow")
    for s in idle:
        check(s.recv(1) == b"", "an idle connection is reset")
        s.close()


def a_stop_ends_at_its_deadline():
    with Folder() as folder:
        folder.write("big.bin", bytes(64 << 20))
        server = httpd(folder, "--stop-timeout", "0.5")
        with server.connect() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n")
            s.recv(100)
            check(server.stop() == 1, "status")


def a_second_signal_ends_at_once():
    with Folder() as folder:
        folder.write("big.bin", bytes(64 << 20))
        server = httpd(folder, "--stop-timeout", "1000")
        with server.connect() as s:
            s.sendall(b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n")
            s.recv(100)
            server.process.terminate()

            def refused():
                try:
                    server.connect().close()
                    return False
                except OSError:
                    return True
            wait_until(refused, "it accepts nothing more")
            check(server.stop() == 1, "status")


if __name__ == "__main__":
    run_all([an_idle_connection_is_closed,
             a_slow_head_is_answered_with_408,
             a_slow_body_is_answered_with_408,
             who_does_not_read_is_dropped,
             further_connections_wait_and_are_served,
             without_descriptors_it_serves_on,
             a_stop_loses_no_answer,
             a_stop_with_idle_connections_is_quick,
             a_stop_ends_at_its_deadline,
             a_second_signal_ends_at_once])
