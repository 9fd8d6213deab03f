#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""For each thing that a peer can send repeatedly, sennit-httpd and sennit-proxy
have a bound, for clients and for servers. programs/README.md has the same
table."""
import os
import select
import socket

from server import (Folder, PATIENCE, check, httpd, proxy, read_all,
                    read_answer, run_all, statuses, wait_until)
from upstream import GET, Upstream, ask, read_head

POST = b"POST /status HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\n"
# More than any bound; what is sent beyond one is dropped, up to 16 MiB.
MOST = 64 << 20

# What is sent once, what then again and again, and the answer.
OF_CLIENTS = {
    "bytes of the first line": (b"GET /", b"a", 414),
    "bytes of a field": (b"GET / HTTP/1.1\r\nX: ", b"a", 431),
    "fields": (b"GET / HTTP/1.1\r\n", b"A: b\r\n", 431),
    "continued lines": (b"GET / HTTP/1.1\r\nA: b\r\n", b" c\r\n", 400),
    "empty lines before a request": (b"", b"\r\n", 400),
    "digits of a chunk's size": (CHUNKED, b"0", 431),
    "bytes of a chunk's extension": (CHUNKED + b"1;", b"a", 431),
    "chunks with extensions": (CHUNKED, b"1;%s\r\nx\r\n" % (b"a" * 99), 431),
    "small chunks": (CHUNKED, b"1\r\nx\r\n", 413),
    "trailers": (CHUNKED + b"0\r\n", b"A: b\r\n", 431),
    "bytes of a trailer": (CHUNKED + b"0\r\nA: ", b"a", 431),
    "bytes behind CONNECT": (b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", b"a",
                             405),
    "bytes that Expect asks for": (
        POST + b"Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\nx\r\n", 413),
}


def send_endlessly(s, first, again):
    """Read until the peer has closed the connection. Returns the bytes."""
    part, sent, got = again * (65536 // len(again)), 0, b""
    s.settimeout(PATIENCE)
    s.sendall(first)
    try:
        while sent < MOST:
            readable, _, _ = select.select([s], [], [], 0)
            more = s.recv(65536) if readable else None
            if more == b"":
                break
            got += more or b""
            sent += s.send(part)
    except (ConnectionResetError, BrokenPipeError):
        pass
    check(sent < MOST, "it goes on")
    return got


def bounded_in(server):
    wrong = []
    for name, (first, again, status) in OF_CLIENTS.items():
        with server.connect() as s:
            got = statuses(send_endlessly(s, first, again))
        # 100 is what Expect is answered with. A reset may take an answer along.
        if [x for x in got if x != 100][:1] not in ([status], []):
            wrong.append((name, status, got))
        if not wrong and statuses(server.talk(
                b"GET /hello HTTP/1.0\r\n\r\n", close=False)) != [200]:
            wrong.append((name, "nobody else is served"))
    check(not wrong, wrong)


def what_clients_send_again_and_again_has_a_bound():
    with Folder() as folder:
        folder.write("hello", "hello\n")
        options = ["--max-body", "100000", "--stop-timeout", "1"]
        with httpd(folder, *options) as server:
            bounded_in(server)
            if "SENNIT_PROXY" in os.environ:
                with proxy(*options, "127.0.0.1:%d" % server.at) as p:
                    bounded_in(p)


# --- servers behind the proxy -----------------------------------------------------

# What a server's answer is, and how the proxy's begins if the head was passed
# on before: else it is 502.
OF_SERVERS = {
    "answers 1xx": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 502),
    "answers 1xx with fields": (b"", b"HTTP/1.1 103 Hints\r\nA: b\r\n\r\n",
                                502),
    "bytes of the first line": (b"HTTP/1.1 200 ", b"a", 502),
    "fields": (OK, b"A: b\r\n", 502),
    "empty lines": (b"", b"\r\n", 502),
    "continued lines": (OK + b"A: b\r\n", b" c\r\n", 502),
    "bytes of an extension": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a", 200),
    "trailers": (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"A: b\r\n",
                 200),
}


def flooding(first, again):
    def handle(u, s):
        head = read_head(s)
        if b"/hello" in head:
            s.sendall(OK + b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            return
        try:
            send_endlessly(s, first, again)
            u.ended.append(True)
        except AssertionError:
            u.ended.append(False)
    return handle


def what_servers_send_again_and_again_has_a_bound():
    wrong = []
    for name, (first, again, status) in OF_SERVERS.items():
        u = Upstream(flooding(first, again))
        u.ended = []
        with u, proxy("--stop-timeout", "1", "--failures", "1000",
                      u.name) as p:
            for number in range(1, 4):
                got = statuses(ask(p, GET))
                if got not in ([status], [502]):
                    wrong.append((name, status, got))
                wait_until(lambda: len(u.ended) == number, "it ends: " + name)
            if not all(u.ended):
                wrong.append((name, "goes on"))
            if statuses(ask(p, GET.replace(b"/x", b"/hello"))) != [200]:
                wrong.append((name, "nobody else is served"))
    check(not wrong, wrong)


def interim(count):
    def handle(u, s):
        while read_head(s):
            s.sendall(b"HTTP/1.1 103 Hints\r\n\r\n" * count + OK +
                      b"Content-Length: 0\r\n\r\n")
    return handle


def up_to_32_answers_may_come_before_the_final_one():
    for count, status in (32, 200), (33, 502):
        with Upstream(interim(count)) as u, proxy(u.name) as p:
            check(statuses(ask(p, GET)) == [status], count)


if __name__ == "__main__":
    tests = [what_clients_send_again_and_again_has_a_bound]
    if "SENNIT_PROXY" in os.environ:
        tests += [what_servers_send_again_and_again_has_a_bound,
                  up_to_32_answers_may_come_before_the_final_one]
    run_all(tests)
