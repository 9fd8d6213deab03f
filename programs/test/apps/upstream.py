#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers behind sennit-proxy, whose behaviour a test chooses."""
import socket
import threading

from server import PATIENCE, check, proxy

GET = b"GET /x HTTP/1.1\r\nHost: example\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Upstream:
    """A server whose connections are handled by a function, each in a
    thread."""

    def __init__(self, handle):
        self.handle, self.accepted, self.heads = handle, 0, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.name = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.open = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                s, _ = self.listener.accept()
                s.settimeout(PATIENCE)
                self.accepted += 1
                self.open.append(s)
                threading.Thread(target=self.run, args=(s,),
                                 daemon=True).start()
        except OSError:
            pass

    def run(self, s):
        try:
            self.handle(self, s)
        except OSError:
            pass
        s.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.listener.close()
        for s in self.open:
            s.close()


def read_head(s):
    data = b""
    while b"\r\n\r\n" not in data:
        part = s.recv(1)
        if not part:
            return b""
        data += part
    return data


def answering(answer, close=False):
    """Reads heads of requests, and sends the same answer to each."""
    def handle(u, s):
        while True:
            head = read_head(s)
            if not head:
                return
            u.heads.append(head)
            s.sendall(answer)
            if close:
                return
    return handle


def through(*handlers, options=()):
    """The test gets a proxy before servers with these handlers."""
    def decorate(test):
        def run():
            upstreams = [Upstream(h) for h in handlers]
            try:
                with proxy(*options, *[u.name for u in upstreams]) as p:
                    test(p, *upstreams)
            finally:
                for u in upstreams:
                    u.__exit__()
        run.__name__ = test.__name__
        return run
    return decorate


def ask(server, requests):
    """Send requests without bodies, the last of which ends the connection.
    Returns all answers. For the proxy, a client that ends its own direction has
    gone."""
    check(requests.endswith(b"\r\n\r\n"), requests)
    return server.talk(requests[:-2] + b"Connection: close\r\n\r\n",
                       close=False)
