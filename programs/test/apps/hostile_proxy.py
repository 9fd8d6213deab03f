#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit-proxy between servers that answer early and stop reading, or send too
much, and clients that disconnect at each step. An innocent client must get its
own answers meanwhile."""
import os
import re
import socket
import struct
import threading

from server import (check, read_answer, run_all, skip, statuses, wait_until,
                    PATIENCE)
from upstream import GET, OK, answering, ask, read_head, through


def get(name, *fields):
    return (b"GET /%s HTTP/1.1\r\n" % name +
            b"".join(f + b"\r\n" for f in fields or (b"Host: x",)) + b"\r\n")


def post(name, size, body):
    return (b"POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" %
            (name, size) + body)


def name_of(head):
    return head.split()[1][1:]


def answer_to(name, more=b""):
    return (b"HTTP/1.1 200 OK\r\n" + more +
            b"Content-Length: %d\r\n\r\n" % len(name) + name)


def check_innocent(p, names):
    """Check that each client gets the answer to its own request."""
    for name in names:
        answer = ask(p, get(b"innocent%d" % name))
        check(answer.endswith(b"\r\n\r\ninnocent%d" % name), name, answer)


def small_buffers(u):
    """From the next connection on, the kernel buffers only some 100 kB between
    the proxy and the server."""
    u.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 600)
    u.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)


# --- servers that answer early ------------------------------------------------

def early(u, s):
    """Answers at the head of a request, and reads its body after u.go_on. The
    second answer is the last."""
    head = read_head(s)
    s.sendall(answer_to(name_of(head)))
    u.go_on.wait(PATIENCE)
    left = int(head.partition(b"Content-Length: ")[2].split()[0])
    while left:
        part = s.recv(min(left, 65536))
        if not part:
            return
        left -= len(part)
    head = read_head(s)
    if head:
        s.sendall(answer_to(name_of(head), b"Connection: close\r\n"))


def early_or_at_once(u, s):
    """Like early() for POST. Answers other requests at once."""
    head = s.recv(4, socket.MSG_PEEK | socket.MSG_WAITALL)
    if head == b"POST":
        early(u, s)
    elif head:
        head = read_head(s)
        s.sendall(answer_to(name_of(head), b"Connection: close\r\n"))


@through(early_or_at_once,
         options=["--send-timeout", "0.2", "--answer-timeout", "5"])
def half_a_request_is_not_continued_by_another(p, u):
    small_buffers(u)
    # Of some of these bodies all but the last part fits.
    for size in range(90000, 130000, 4000):
        u.go_on = threading.Event()
        with p.connect() as s:
            s.sendall(post(b"early", size, bytes(size)))
            check(read_answer(s).endswith(b"\r\n\r\nearly"), size)
            u.go_on.set()
            check_innocent(p, [size])


def surplus(u, s):
    """Sends a second answer, without a request, behind each."""
    while True:
        head = read_head(s)
        if not head:
            return
        s.sendall(answer_to(name_of(head)) + answer_to(b"surplus"))


@through(surplus)
def what_comes_behind_an_answer_is_nobodys(p, u):
    check_innocent(p, range(20))


# --- clients that leave -------------------------------------------------------

def patient(u, s):
    """Answers all but /hold at once. For /hold it waits until the client has
    gone, which the end of the connection shows."""
    while True:
        head = read_head(s)
        if not head:
            return
        name = name_of(head)
        if name == b"half":
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        if name in (b"hold", b"half", b"body"):
            u.held.append(s)
            while s.recv(65536):
                pass
            u.ended.append(s)
            return
        s.sendall(answer_to(name))


def leave(s, reset):
    if reset:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                     struct.pack("ii", 1, 0))
    s.close()


def leaving(p, u, data, reaches_server):
    """Clients send the data, and disconnect when the server has it. The
    innocent client gets its answers before and after that. Only its connection
    to the server stays."""
    u.held, u.ended = [], []
    for reset in False, True:
        count = len(u.held) + 10 * reaches_server
        clients = [p.connect() for _ in range(10)]
        for s in clients:
            s.sendall(data)
        wait_until(lambda: len(u.held) == count, "they have come")
        check_innocent(p, range(5))
        for s in clients:
            leave(s, reset)
        check_innocent(p, range(5))
        wait_until(lambda: len(u.ended) == count, "no connection is held")


@through(patient, options=["--answer-timeout", "1000", "--body-timeout",
                           "1000", "--send-timeout", "1000"])
def who_leaves_holds_no_connection(p, u):
    leaving(p, u, b"", False)
    leaving(p, u, GET[:20], False)
    leaving(p, u, post(b"body", 5000, bytes(100)), False)
    leaving(p, u, post(b"body", 200000, bytes(100000)), True)
    leaving(p, u, get(b"hold"), True)
    leaving(p, u, get(b"half"), True)
    leaving(p, u, get(b"hold") * 3, True)


@through(patient, options=["--answer-timeout", "1000", "--connect-timeout",
                           "1000", "--max-upstream", "1"])
def who_leaves_the_queue_holds_nobody_up(p, u):
    u.held, u.ended = [], []
    clients = [p.connect() for _ in range(5)]
    for s in clients:
        s.sendall(get(b"hold"))
    wait_until(lambda: len(u.held) == 1, "one has the connection")
    for s in clients:
        s.close()
    check_innocent(p, range(3))


def slow_reader(u, s):
    """Reads only the head of a request."""
    head = read_head(s)
    if name_of(head) == b"body":
        u.held.append(s)
        u.go_on.wait(PATIENCE)
        try:
            while s.recv(65536):
                pass
        finally:
            u.ended.append(s)
    else:
        s.sendall(answer_to(name_of(head), b"Connection: close\r\n"))


def connections_to(u):
    """The number of connections that the proxy has not closed."""
    port = ":%04X" % u.listener.getsockname()[1]
    with open("/proc/net/tcp") as f:
        lines = [line.split() for line in f.readlines()[1:]]
    return sum(x[2].endswith(port) and x[3] == "01" for x in lines)


@through(slow_reader, options=["--send-timeout", "1000"])
def who_leaves_a_server_that_does_not_read_holds_no_connection(p, u):
    u.held, u.ended, u.go_on = [], [], threading.Event()
    small_buffers(u)
    s = p.connect()
    # More than the proxy can send, and the rest fits where its end can follow.
    s.sendall(post(b"body", 1 << 30, bytes(150000)))
    wait_until(lambda: u.held, "it has come")
    check_innocent(p, range(3))
    leave(s, False)  # what it has sent can still be read
    wait_until(lambda: not connections_to(u), "no connection is held")
    check_innocent(p, range(3))
    u.go_on.set()


# --- heads --------------------------------------------------------------------

@through(answering(OK))
def the_host_is_that_of_the_target(p, u):
    for target, fields, line, host in (
            (b"http://evil/a?b", [b"Host: example"], b"GET /a?b", b"evil"),
            (b"http://evil:81/", [b"Host: example"], b"GET /", b"evil:81"),
            (b"HTTP://evil", [b"Host: example"], b"GET /", b"evil"),
            (b"http://evil?b=/c", [b"Host: example"], b"GET /?b=/c",
             b"evil"),
            (b"/", [b"Host: a", b"Connection: close, Host"], b"GET /", b"a"),
            (b"/", [b"Connection: X, host", b"Host: a"], b"GET /", b"a")):
        request = (b"GET " + target + b" HTTP/1.1\r\n" +
                   b"\r\n".join(fields) + b"\r\n\r\n")
        check(statuses(ask(p, request)) == [200], request)
        check(u.heads[-1].startswith(line + b" HTTP/1.1\r\n"), u.heads[-1])
        hosts = re.findall(rb"\r\nHost: ([^\r]*)\r\n", u.heads[-1])
        check(hosts == [host], request, u.heads[-1])
    ask(p, b"OPTIONS http://evil HTTP/1.1\r\nHost: x\r\n\r\n")
    check(u.heads[-1].startswith(b"OPTIONS * HTTP/1.1\r\nHost: evil\r\n"),
          u.heads[-1])


# What some servers read as another field.
FOLDED = [b"X_Forwarded_For: 1.2.3.4", b"X_Forwarded-Proto: https",
          b"Content_Length: 5", b"Transfer_Encoding: chunked", b"Host_: evil",
          b"h_o_s_t: evil", b"Connection_: x", b"X.Forwarded.For: 1.2.3.4",
          b"API_KEY: 1", b"a~b: 1", b"a!: 1"]


def passed_names(u):
    return [line.partition(b":")[0]
            for line in u.heads[-1].split(b"\r\n")[1:-2]]


@through(answering(OK))
def fields_that_a_server_may_read_as_others_are_left_out(p, u):
    ask(p, get(b"x", b"Host: x", b"A-b1: c"))
    plain = passed_names(u)
    check(b"A-b1" in plain, plain)
    for field in FOLDED:
        answer = ask(p, get(b"x", b"Host: x", b"A-b1: c", field))
        check(statuses(answer) == [200], field, answer)
        check(passed_names(u) == plain, field, passed_names(u))


@through(answering(OK), options=["--underscores"])
def underscores_pass_if_they_may_except_in_the_proxys_own(p, u):
    for field in FOLDED:
        ask(p, get(b"x", b"Host: x", field))
        name = field.partition(b":")[0]
        check((name in passed_names(u)) ==
              (name in (b"API_KEY", b"Host_", b"h_o_s_t", b"Connection_")),
              field, passed_names(u))


def fields_of_an_answer(count):
    return (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * (count - 1) +
            b"Content-Length: 2\r\n\r\nok")


def an_answer_has_up_to_256_fields_and_more_are_told_of():
    for count, status in (129, 200), (256, 200), (257, 502), (3000, 502):
        @through(answering(fields_of_an_answer(count), close=True),
                 options=["--failures", "1000"])
        def test(p, u):
            for _ in range(3):
                answer = ask(p, GET)
                check(statuses(answer) == [status], count, answer[:80])
                check(answer.count(b"A: b\r\n") == (status == 200) *
                      (count - 1), count)
            told = p.text().count("sennit-proxy: %s: an answer's head has "
                                  "more than 256 fields" % u.name)
            check(told == (status == 502), count, p.text())
        test()


@through(answering(b"HTTP/1.1 2 OK\r\nContent-Length: 0\r\n\r\n", close=True))
def an_error_answer_to_head_has_no_body(p, u):
    for request, status in ((b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", 502),
                            (b"HEAD / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
                            (b"HEAD / HTTP/1.1\r\nHost\r\n\r\n", 400),
                            (b"HEAD /" + b"a" * 9000, 414)):
        answer = p.talk(request, close=False)
        check(statuses(answer) == [status], request[:40], answer)
        check(answer.endswith(b"\r\n\r\n"), request[:40], answer)


def a_status_has_three_digits():
    for line in (b"HTTP/1.1 2 OK", b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK",
                 b"HTTP/1.1 0200 OK", b"HTTP/1.1 099 OK", b"HTTP/1.1 200OK",
                 b"HTTP/1.1  200 OK"):
        @through(answering(line + b"\r\nContent-Length: 0\r\n\r\n",
                           close=True))
        def test(p, u):
            check(statuses(ask(p, GET)) == [502], line)
        test()


@through(answering(b"HTTP/1.2 200 Fine\r\nContent-Length: 2\r\n\r\nok"))
def an_answer_of_http_1_2_is_passed_on(p, u):
    answer = ask(p, GET * 2)
    check(answer.count(b"HTTP/1.1 200 Fine\r\n") == 2, answer)
    check(u.accepted == 1, "it stays open")


if __name__ == "__main__":
    if "SENNIT_PROXY" not in os.environ:
        skip("no sennit-proxy")
    run_all([half_a_request_is_not_continued_by_another,
             what_comes_behind_an_answer_is_nobodys,
             who_leaves_holds_no_connection,
             who_leaves_the_queue_holds_nobody_up,
             who_leaves_a_server_that_does_not_read_holds_no_connection,
             the_host_is_that_of_the_target,
             fields_that_a_server_may_read_as_others_are_left_out,
             underscores_pass_if_they_may_except_in_the_proxys_own,
             an_answer_has_up_to_256_fields_and_more_are_told_of,
             an_error_answer_to_head_has_no_body,
             a_status_has_three_digits,
             an_answer_of_http_1_2_is_passed_on])
