# SPDX-License-Identifier: Apache-2.0
"""chat.py PROGRAM CLIENTS - talks to a chat server: with CLIENTS of them
every line reaches each client, in one order; one that takes no lines holds up
nobody and is cut off; at SIGTERM all get what was said, and the end."""
import os
import selectors
import signal
import socket
import subprocess
import sys
import time

PROGRAM, CLIENTS = sys.argv[1:-1], int(sys.argv[-1])
SPEAKERS, EACH = 10, 5  # less than the server keeps: none is cut off
LIMIT = time.monotonic() + 240


def fail(what):
    sys.exit("FAILED: " + what)


def connect(address):
    unix = address.startswith("unix:")
    where = (address[5:] if unix else
             ("127.0.0.1", int(address.rsplit(":", 1)[1])))
    while True:
        s = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
        try:
            s.connect(where)
            return s
        except (ConnectionRefusedError, FileNotFoundError, BlockingIOError):
            s.close()
            if server.poll() is not None or time.monotonic() > LIMIT:
                fail("nobody listens at " + address)
            time.sleep(0.02)


class Client:
    def __init__(self, address, name):
        self.socket = connect(address)
        self.bytes, self.ended = bytearray(), False
        self.socket.sendall(name + b"\n")

    def say(self, text):
        self.socket.sendall(text + b"\n")


def receive(clients, done):
    """Receives for all until done(client) holds for each."""
    with selectors.DefaultSelector() as selector:
        waiting = [c for c in clients if not done(c)]
        for c in waiting:
            selector.register(c.socket, selectors.EVENT_READ, c)
        left = len(waiting)
        while left:
            if time.monotonic() > LIMIT:
                fail("%d of %d clients wait; one has %r" % (
                    left, len(clients), bytes(waiting[-1].bytes[-100:])))
            for key, _ in selector.select(1):
                c = key.data
                try:
                    piece = c.socket.recv(65536)
                except ConnectionResetError:
                    piece = b""
                c.bytes += piece
                c.ended = not piece
                if done(c):
                    selector.unregister(c.socket)
                    left -= 1
                elif c.ended:
                    fail("cut off after %r" % bytes(c.bytes[-100:]))


def expect(holds, what):
    if not holds:
        fail(what)


def every_line_arrives(address, count):
    """Returns the clients."""
    clients = [Client(address, b"c%d" % i) for i in range(count)]
    receive(clients, lambda c: c.bytes.startswith(b"hello\n"))
    for i in range(EACH):
        for c in clients[:SPEAKERS]:
            c.say(b"line %d" % i)
    receive(clients, lambda c: c.bytes.count(b"\n") == 1 + SPEAKERS * EACH)
    expect(len({bytes(c.bytes) for c in clients}) == 1,
           "the clients have got different lines, or orders")
    expect(sorted(clients[0].bytes.split(b"\n")[1:-1]) ==
           sorted(b"c%d: line %d" % (s, i)
                  for s in range(SPEAKERS) for i in range(EACH)),
           "other lines were said")
    return clients


def stalled_holds_up_nobody(address, clients):
    """Returns how many lines the others have got, and the stalled one."""
    stalled, said = Client(address, b"stalled"), 2000  # 200 kB fit in between
    for i in range(said):
        for c in clients:
            c.bytes.clear()
        clients[i % len(clients)].say(b"x" * 200)
        receive(clients, lambda c: c.bytes.endswith(b"x\n"))
    receive([stalled], lambda c: c.ended)
    got = stalled.bytes.count(b"\n") - 1
    expect(0 < got < said, "the stalled client has got %d lines" % got)
    return said, got


def all_get_what_was_said(clients):
    for c in clients:
        c.bytes.clear()
    for i in range(20):
        clients[0].say(b"last %d" % i)
    receive(clients[:1], lambda c: c.bytes.count(b"\n") == 20)
    server.send_signal(signal.SIGTERM)
    receive(clients, lambda c: c.ended)
    for c in clients:
        expect(c.bytes.count(b"\n") == 20, "lines are lost: %r" %
               bytes(c.bytes[-200:]))
    status = server.wait(60)
    expect(status == 0, "the server ended with %d" % status)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


address = ":%d" % free_port()
server = subprocess.Popen([*PROGRAM, address])
try:
    all_get_what_was_said(every_line_arrives(address, CLIENTS))
    address = "unix:" + os.path.abspath("chat-socket")
    server = subprocess.Popen([*PROGRAM, address])
    few = every_line_arrives(address, SPEAKERS)
    numbers = stalled_holds_up_nobody(address, few)
    all_get_what_was_said(few)
    print("%d clients got all lines; a stalled one held up nobody and got %d "
          "of %d" % (CLIENTS, numbers[1], numbers[0]))
finally:
    server.kill()
