#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a client of sennit-httpd waits beside three that read as fast as they
can, and decrypt nothing: by plain HTTP and by TLS, in turn, one worker each. It
needs openssl.

	SENNIT_HTTPD=build/release/sennit-httpd python3 programs/bench/greedy.py
"""
import ctypes
import multiprocessing
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "test",
                                "apps"))
from hostile import over_tls
from server import Folder, certificate, httpd, read_answer

REQUESTS, ROUNDS, GREEDY = 1000, 5, 3
fork = multiprocessing.get_context("fork")
GET = b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n"


def read_greedily(server, wrap):
    s = wrap(server.connect())
    s.sendall(GET.replace(b"small", b"large") * 50)
    s = socket.socket(fileno=os.dup(s.fileno()))
    s.setblocking(True)
    discard = ctypes.CDLL(None).recv
    while discard(s.fileno(), None, 1 << 24, socket.MSG_TRUNC) > 0:
        pass


def waits(server, wrap):
    """Seconds of each request of one connection."""
    times = []
    with wrap(server.connect()) as s:
        for _ in range(REQUESTS):
            begin = time.monotonic()
            s.sendall(GET)
            read_answer(s)
            times.append(time.monotonic() - begin)
    return times


def measure(server, wrap):
    clients = [fork.Process(target=read_greedily, args=(server, wrap))
               for _ in range(GREEDY)]
    for c in clients:
        c.start()
    time.sleep(0.3)
    try:
        return waits(server, wrap)
    finally:
        for c in clients:
            c.kill()
            c.join()


def part(times, share):
    return 1000 * sorted(times)[int(share * len(times))]


def main():
    plain, tls = [], []
    with Folder() as folder:
        folder.write("small", "x" * 612)
        with open(folder.path("large"), "wb") as f:
            f.truncate(1 << 30)
        options = "--workers", "1", "--stop-timeout", "0.1"
        with httpd(folder, *options, may_fail=True) as p, \
                httpd(folder, *options, *certificate(folder),
                      may_fail=True) as t:
            for _ in range(ROUNDS):
                plain += measure(p, lambda s: s)
                tls += measure(t, over_tls)
    for name, times in ("plain", plain), ("TLS", tls):
        print("%-5s median %.3f ms, 99th percentile %.3f ms" %
              (name, part(times, 0.5), part(times, 0.99)))
    print("ratio of the 99th percentiles: %.2f" %
          (part(tls, 0.99) / part(plain, 0.99)))


if __name__ == "__main__":
    main()
