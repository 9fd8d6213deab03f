#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit-httpd at its limits: slow clients, too many of them, no descriptors,
and a stop meanwhile."""
import os
import socket
import termios
import threading
import time

from server import (Folder, Program, check, httpd, read_all, read_answer, run_all,
                    statuses, wait_until, PATIENCE)

GET = b"GET /hello.txt HTTP/1.1\r\nHost: x\r\n\r\n"
LONG = b"GET /hello.txt HTTP/1.1\r\nHost: x\r\nReferer: %s\r\n\r\n" % (b"r" *
                                                                       1000)


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


def descriptors(server):
    return len(os.listdir("/proc/%d/fd" % server.process.pid))


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
    """Silent connections are closed first (programs/test/apps/filled.py)."""
    many = [server.connect() for _ in range(100)]
    wait_until(lambda: descriptors(server) >= 40, "EMFILE")
    for path in b"hello.txt", b"big.bin":
        def is_served():
            try:
                answer = server.talk(GET.replace(b"hello.txt", path))
            except OSError:  # it had no descriptor
                return False
            return statuses(answer) == [200]
        wait_until(is_served, "it is served")
    for s in many:
        s.close()
    answer = server.talk(GET)
    check(statuses(answer) == [200], answer[:80])


def with_few_descriptors_it_serves_or_says_why():
    """From too few to start with, to enough for each worker's poller."""
    with Folder() as folder:
        folder.write("hello.txt", "hello, world\n")
        served = 0
        for limit in range(6, 28):
            try:
                server = httpd(folder, "--workers", "2", "--stop-timeout", "50",
                               limit=limit)
            except AssertionError as e:
                check("it ended:" in str(e) and "files" in str(e), limit, e)
                continue
            with server:
                for _ in range(3):
                    check(statuses(server.talk(GET)) == [200], limit)
                check(server.process.poll() is None, limit, "it has ended")
                check(server.stop() == 0, limit, "status")
                served += 1
        check(served >= 8, served)


@serving("--workers", "2", "--stop-grace", "30",
         "--stop-timeout", "50")
def a_stop_loses_no_answer(server):
    """Each client sends requests until the server closes the connection."""
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
    # Connections after the stop are refused.
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


def the_status_needs_the_option():
    """Without the option there is no such page."""
    with Folder() as folder:
        for options, status, posted in (([], 404, 405),
                                        (["--status", ""], 404, 405),
                                        (["--status", "/s"], 404, 405),
                                        (["--status", "/status"], 200, 200)):
            with Program(os.environ["SENNIT_HTTPD"], "--listen",
                         "127.0.0.1:0", *options, folder.name) as server:
                for method, expected in (b"GET", status), (b"POST", posted):
                    answer = server.talk(
                        method + b" /status HTTP/1.1\r\nHost: x\r\n"
                        b"Content-Length: 0\r\n\r\n")
                    check(statuses(answer) == [expected], options, answer)


def a_stop_ends_at_its_deadline_whatever_clients_do():
    """Half of the clients end their own direction, and all are in the middle of
    something."""
    large = b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n"
    post = b"POST /status HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"
    with Folder() as folder:
        folder.write("big.bin", bytes(64 << 20))
        server = httpd(folder, "--stop-timeout", "0.5")
        clients = []
        for data in (b"", large[:9], large, large * 9, post):
            for half in False, True:
                s = server.connect()
                s.sendall(data)
                if half:
                    s.shutdown(socket.SHUT_WR)
                clients.append(s)
        clients[4].recv(100)
        clients[5].recv(100)
        check(server.stop() == 1, "status")


def a_stopped_terminal_keeps_nothing():
    """The access log goes to a terminal that accepts no output, as after
    Ctrl-S: answers go on, and the stop ends the server."""
    master, terminal = os.openpty()
    termios.tcflow(terminal, termios.TCOOFF)
    with Folder() as folder:
        folder.write("hello.txt", "hello, world\n")
        server = httpd(folder, "--access-log", "-", "--workers", "1",
                       stdout=terminal)
        with server.connect() as s:
            for _ in range(2000):  # more than a terminal and buffers take
                check(statuses(exchange(s, LONG)) == [200])
            check(b'"log_dropped":0,' not in
                  exchange(s, b"GET /status HTTP/1.1\r\nHost: x\r\n\r\n"),
                  "all lines went somewhere")
        check(server.stop() == 0, "status")
    os.close(terminal)
    os.close(master)


if __name__ == "__main__":
    run_all([an_idle_connection_is_closed,
             a_slow_head_is_answered_with_408,
             a_slow_body_is_answered_with_408,
             who_does_not_read_is_dropped,
             further_connections_wait_and_are_served,
             without_descriptors_it_serves_on,
             with_few_descriptors_it_serves_or_says_why,
             a_stop_loses_no_answer,
             a_stop_with_idle_connections_is_quick,
             a_stop_ends_at_its_deadline,
             a_second_signal_ends_at_once,
             the_status_needs_the_option,
             a_stop_ends_at_its_deadline_whatever_clients_do,
             a_stopped_terminal_keeps_nothing])
