#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Peers use up each limited resource of sennit-httpd and sennit-proxy, and do
as little as they can. A client that then sends a small request gets its answer.

All timeouts are some hours, so peers keep what they hold unless the server
takes it from them for the client. Otherwise the client would get no answer.
"""
import concurrent.futures
import os
import socket
import struct
import threading
import time

from server import (Folder, PATIENCE, check, httpd, is_sanitized, proxy,
                    read_answer, run_all, statuses, wait_until)
from upstream import Upstream, read_head

BIG = 8 << 20
SMALL = b"GET /hello.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
LARGE = b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n"
BODY = b"POST /status HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
SLOW = is_sanitized()
# With "0.1" the process has three seconds to end.
STOP = "30" if SLOW else "0.1"
HOURS = [a for name in ("idle", "head", "body", "send")
         for a in ("--%s-timeout" % name, "10000")] + ["--stop-timeout", STOP]
OF_PROXY = ["--answer-timeout", "10000", "--connect-timeout", "10000"]
ONLY = os.environ.get("ONLY")  # a limited thing
TICK = 0.2  # between two steps of a peer


# --- peers that do the least ---------------------------------------------------

def nothing(s):
    pass


def read_little(s):
    s.recv(64)


def send_byte(s):
    s.send(b"x")


# What a peer begins with, whether it ends its direction then, and what it does
# at each tick.
PEERS = {
    "silent": (b"", False, nothing),
    "slow head": (b"GET /hello.txt HTTP/1.1\r\nX: ", False, send_byte),
    "slow body": (BODY % 1000, False, send_byte),
    "slow large body": (BODY % 500000 + bytes(100000), False, send_byte),
    "slow reading": (LARGE, False, read_little),
    "reads nothing": (LARGE * 3, False, nothing),
    "half-closed": (LARGE * 3, True, nothing),
}


def connect(at):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(PATIENCE)
    s.connect(("127.0.0.1", at))
    return s


class Peers:
    """A number of peers of one kind, active inside `with`. One that is
    disconnected does not connect again."""

    def __init__(self, at, count, kind):
        self.begin, self.half, self.step = PEERS[kind]
        self.at, self.ending = at, threading.Event()
        self.all = [connect(at) for _ in range(count)]
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        for s in self.all:
            s.setblocking(False)
            self.careless(lambda: s.sendall(self.begin))
            if self.half:
                self.careless(lambda: s.shutdown(socket.SHUT_WR))
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.ending.set()
        self.thread.join()
        for s in self.all:
            s.close()

    @staticmethod
    def careless(act):
        try:
            act()
        except OSError:
            pass

    def run(self):
        while not self.ending.wait(TICK):
            for s in self.all:
                self.careless(lambda: self.step(s))


class Resetting:
    """Clients that request much and reset the connection, repeatedly."""

    def __init__(self, at, count):
        self.at, self.ending = at, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.ending.set()
        self.thread.join()

    def run(self):
        while not self.ending.is_set():
            s = connect(self.at)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                         struct.pack("ii", 1, 0))
            Peers.careless(lambda: s.sendall(LARGE))
            s.close()
            time.sleep(0.02 if SLOW else 0.002)  # others want the CPU, too


# --- what is limited -------------------------------------------------------------

HTTPD, PROXY, TCP = "httpd", "proxy", "proxy --tcp"

# The program, what is limited, its options, and how many peers use it up.
LIMITED = [
    (HTTPD, "turns", ["--max-connections", "6"], {}, 10),
    (HTTPD, "descriptors", [], {"limit": 48}, 80),
    (HTTPD, "helper threads", ["--cache", "0", "--cache-files", "1",
                               "--cache-valid", "0"], {}, 100),
    (PROXY, "turns", ["--max-connections", "6"], {}, 10),
    (PROXY, "connections to a server", ["--max-upstream", "6",
                                        "--client-share", "0"], {}, 10),
    (PROXY, "a client's share", ["--max-upstream", "6"], {}, 10),
    (PROXY, "descriptors", [], {"limit": 64}, 80),
    (PROXY, "buffers", ["--max-upstream", "6", "--max-buffers", "40000"], {},
     10),
    (TCP, "turns", ["--max-connections", "6"], {}, 10),
    (TCP, "connections to a server", ["--max-upstream", "6",
                                      "--client-share", "0"], {}, 10),
    (TCP, "a client's share", ["--max-upstream", "6"], {}, 10),
    (TCP, "descriptors", [], {"limit": 64}, 80),
]


def start(program, options, more, folder, behind):
    """With --tcp, --idle-timeout sets how long a silent connection is kept; a
    client waits a quarter of it for its answer."""
    if program == HTTPD:
        return httpd(folder, "--total-timeout", "10000", *HOURS, *options,
                     may_fail=True, **more)
    options = HOURS + OF_PROXY + options
    if program == TCP:
        options = options + ["--tcp", "--idle-timeout", "40"]
    return proxy(*options, "127.0.0.1:%d" % behind.at, may_fail=True, **more)


def is_answered(server):
    s = connect(server.at)
    with s:
        s.sendall(SMALL)
        answer = read_answer(s)
    return statuses(answer) == [200] and answer.endswith(b"hello\n")


def was_answered(server):
    try:
        return is_answered(server)
    except OSError:
        return False


def cell(program, thing, options, more, count, kind, folder, behind):
    """Two innocent clients, one after the other. If descriptors are short, a
    waiting one may be disconnected by chance: it asks again."""
    with start(program, options, more, folder, behind) as server:
        peers = Resetting(server.at, count) if kind == "resetting" else \
            Peers(server.at, count, kind)
        with peers:
            time.sleep(0.2)  # most have come; the others wait with the client
            for _ in range(2):
                check(thing == "descriptors" and
                      any(was_answered(server) for _ in range(20)) or
                      is_answered(server), "no answer")


def each_limited_thing_is_there_for_one_who_asks():
    wrong = []
    with Folder() as folder:
        folder.write("hello.txt", "hello\n")
        folder.write("big.bin", bytes(BIG))
        with httpd(folder, *HOURS, may_fail=True) as behind, \
                concurrent.futures.ThreadPoolExecutor(
                    6 if SLOW else 40) as pool:
            cells = {
                pool.submit(cell, program, thing, options, more, count, kind, folder,
                            behind): (program, thing, kind)
                for kind in [*PEERS, "resetting"]
                for program, thing, options, more, count in LIMITED
                if not ONLY or ONLY in thing}
            for f in concurrent.futures.as_completed(cells):
                if f.exception():
                    wrong.append((*cells[f], repr(f.exception())))
    check(not wrong, len(wrong), "of", len(cells),
          *("\n  %s" % (w,) for w in wrong))


# --- shares ----------------------------------------------------------------------

def holding(u, s):
    """Answers all but /hold, which is never answered."""
    while True:
        head = read_head(s)
        if not head:
            return
        if b"/hold" in head:
            u.held += 1
            while s.recv(65536):
                pass
            return
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n")


def ask_from(address, at, patience):
    s = socket.socket()
    with s:
        s.bind((address, 0))
        s.settimeout(patience)
        s.connect(("127.0.0.1", at))
        s.sendall(SMALL)
        return statuses(read_answer(s))


def with_held(share, held):
    """12 clients of one address whose requests a server never answers, and 8
    connections to it. Returns the answers to clients of it and of another."""
    u = Upstream(holding)
    u.held = 0
    with u, proxy("--max-upstream", "8", *share, "--connect-timeout", "0.5",
                  "--answer-timeout", "10000", "--stop-timeout", STOP, u.name,
                  may_fail=True) as p:
        clients = [p.connect() for _ in range(12)]
        for s in clients:
            s.sendall(SMALL.replace(b"hello.txt", b"hold"))
        wait_until(lambda: u.held == held, "%s are held" % held)
        answers = [ask_from(a, p.at, PATIENCE)
                   for a in ("127.0.0.1", "127.0.0.2")]
        for s in clients:
            s.close()
    return answers


def one_address_does_not_get_all_connections_to_a_server():
    check(with_held([], 6) == [[504], [200]])
    check(with_held(["--client-share", "3"], 3) == [[504], [200]])
    check(with_held(["--client-share", "0"], 8) == [[504], [504]])


def wait_for_slot(p):
    """A client that sends a request and resets the connection."""
    s = p.connect()
    s.sendall(SMALL)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return s


def left_while_waiting(options):
    """One client holds the resource, 30 wait for it and leave, and another
    asks. Returns the number of connections that the server has seen."""
    u = Upstream(holding)
    u.held = 0
    with u, proxy(*options, *HOURS, *OF_PROXY, u.name, may_fail=True) as p:
        holder = p.connect()
        holder.sendall(SMALL.replace(b"hello.txt", b"hold"))
        wait_until(lambda: u.held == 1, "it is held")
        fds = "/proc/%d/fd" % p.process.pid
        before = len(os.listdir(fds))
        leaving = [wait_for_slot(p) for _ in range(30)]
        wait_until(lambda: len(os.listdir(fds)) >= before + 30, "all came")
        time.sleep(1)  # most have waited for a while
        for s in leaving:
            s.close()
        holder.close()
        check(ask_from("127.0.0.1", p.at, PATIENCE) == [200])
    return u.accepted


def who_leaves_while_waiting_gets_no_connection():
    for options in (["--max-upstream", "1", "--client-share", "0"],
                    ["--max-upstream", "2", "--client-share", "1"],
                    ["--tcp", "--max-upstream", "1", "--client-share", "0"],
                    ["--tcp", "--max-upstream", "2", "--client-share", "1"]):
        seen = left_while_waiting(options)
        check(seen < 16, seen, "connections")


# --- memory ----------------------------------------------------------------------

def memory_of(server):
    with open("/proc/%d/statm" % server.process.pid) as f:
        return int(f.read().split()[1]) * 4096


def bodies_that_never_end_take_a_bounded_memory():
    """300 requests, each without its last byte."""
    size = 60000
    with Folder() as folder, httpd(folder, *HOURS, may_fail=True) as behind, \
            proxy(*HOURS, "--max-buffers", "1000000",
                  "127.0.0.1:%d" % behind.at, may_fail=True) as p:
        peers = [connect(p.at) for _ in range(300)]
        for s in peers:
            s.sendall(BODY % size + bytes(size - 1))
        folder.write("hello.txt", "hello\n")
        check(is_answered(p), "no answer")
        if not SLOW:
            # A connection has some 100 kB without a buffer.
            check(memory_of(p) < 60 << 20, memory_of(p))
        for s in peers:
            s.close()


# --- the socket to hand over -------------------------------------------------------

def silent_ones_at_the_socket_do_not_keep_the_next_process():
    with Folder() as folder:
        folder.write("hello.txt", "hello\n")
        path = folder.path("next")
        with httpd(folder, "--hand-over", path) as server:
            silent = [socket.socket(socket.AF_UNIX) for _ in range(20)]
            for s in silent:
                s.connect(path)
            with httpd(folder, "--hand-over", path) as after:
                check(server.process.wait(PATIENCE) == 0, "status")
                check(after.at == server.at, "another port")
                check(is_answered(after), "no answer")
            for s in silent:
                s.close()


if __name__ == "__main__":
    tests = [silent_ones_at_the_socket_do_not_keep_the_next_process]
    if "SENNIT_PROXY" in os.environ:
        tests += [one_address_does_not_get_all_connections_to_a_server,
                  who_leaves_while_waiting_gets_no_connection,
                  bodies_that_never_end_take_a_bounded_memory,
                  each_limited_thing_is_there_for_one_who_asks]
    run_all(tests)
