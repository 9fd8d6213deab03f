#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many requests are lost when sennit-httpd is restarted under load, without
anything in front of it: 16 clients, half of them by a connection for each
request. A request is lost if it gets no whole answer.

	SENNIT_HTTPD=build/release/sennit-httpd python3 programs/bench/restart.py
"""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "test",
                                "apps"))
from handover import PATIENT, passed
from server import Clients, Folder, PATIENCE, httpd, wait_until

RESTARTS = 50


def hand_over(folder, old):
    """The next process takes the socket over, and the old one ends."""
    server = httpd(folder, "--hand-over", folder.path("next"), *PATIENT)
    if old:
        old.process.wait(PATIENCE)
    return server


def same_socket(folder, old):
    """The parent passes the socket to both servers (LISTEN_FDS)."""
    server = passed(LISTENER, folder, *PATIENT)
    if old:
        old.stop()
    return server


def same_address(folder, old):
    """Each has listeners of its own (SO_REUSEPORT)."""
    at = ["--listen", "127.0.0.1:%d" % old.at] if old else []
    server = httpd(folder, *at, *PATIENT)
    if old:
        old.stop()
    return server


def one_after_the_other(folder, old):
    """The old one ends before the next one begins."""
    if not old:
        return httpd(folder, *PATIENT)
    old.stop()
    return httpd(folder, "--listen", "127.0.0.1:%d" % old.at, *PATIENT)


def measure(restart):
    with Folder() as folder:
        folder.write("small.txt", "x" * 612)
        server = restart(folder, None)
        with Clients(("127.0.0.1", server.at), b"/small.txt", 16) as clients:
            for _ in range(RESTARTS):
                before = sum(clients.asked)
                wait_until(lambda: sum(clients.asked) > before + 200, "load")
                server = restart(folder, server)
        server.stop()
    print("%-20s %3d restarts, %6d answers, %5d lost" % (
        restart.__name__, RESTARTS, sum(clients.asked), len(clients.failed)))
    sys.stdout.flush()


LISTENER = socket.create_server(("127.0.0.1", 0), backlog=1024)
for way in hand_over, same_socket, same_address, one_after_the_other:
    measure(way)
