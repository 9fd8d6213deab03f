# SPDX-License-Identifier: Apache-2.0
"""outlive.py NAME STATUS COMMAND... - a server outlives what clients do.

Clients reset their connections, end one direction, say nothing, send half a
line and read no answers. A connection beside them is answered all the time.
Then SIGTERM comes in the middle of resets, and the server ends with STATUS: 0,
or -15 if it has no handler. NAME says what it answers to: see SERVERS.
"""
import os
import select
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "..",
                                "testing"))
from listening import listening_port  # noqa: E402

NAME, STATUS, COMMAND = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
LIMIT = time.monotonic() + 120

# What a server says of itself only if it has a fault.
FORBIDDEN = (b"misuse", b"terminate", b"shutdown", b"anitizer", b"sennit: ")


class Server:
    """greeting: what comes first; hello: what a client says first; asks: a
    question; says: what the answer to it ends with; keeps: a connection has many
    questions."""
    def __init__(self, says=b"\n", greeting=b"", hello=b"", keeps=True,
                 tls=False, asks=b"1\n"):
        self.says, self.greeting, self.hello = says, greeting, hello
        self.asks = asks
        self.keeps, self.tls = keeps, tls


HTTP = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
CHAT = Server(b"beside: 1\n", b"hello\n", b"beside\n")
SERVERS = {"io_chat": CHAT, "cpp_chat": CHAT,
           "cpp_http_server": Server(b"hello\n", asks=HTTP),
           "http_http_server": Server(b"hello\n", asks=HTTP),
           "http_http_store": Server(b"\r\n0\r\n\r\n", asks=HTTP),
           "tls_tls": Server(tls=True),
           "io_retry": Server(b"!", keeps=False)}
this = SERVERS.get(NAME, Server())
EACH = 10 if this.tls else 30  # clients of each kind; handshakes take long


trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE


def fail(what):
    sys.exit("FAILED: %s: %s" % (NAME, what))


def connect(small=False):
    s = socket.socket()
    if small:  # and so the server's buffer for it is small, too
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.settimeout(60)
    s.connect(("127.0.0.1", port))
    return s


def speak(s):
    """Makes a connection one on which lines can be said."""
    return trusting.wrap_socket(s) if this.tls else s


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                 struct.pack("ii", 1, 0))
    s.close()


class Beside:
    """A client that does nothing wrong."""
    def __init__(self):
        self.socket = speak(connect())
        self.socket.sendall(this.hello)
        got = b""
        while got != this.greeting:  # what is said before it, it may not hear
            got += self.socket.recv(len(this.greeting) - len(got))

    def ask(self, times=1):
        self.socket.sendall(this.asks * times)
        got = b""
        while got.count(this.says) < times:
            try:
                piece = self.socket.recv(65536)
            except (ConnectionError, TimeoutError) as e:
                fail("a connection beside was ended: %s" % e)
            if not piece:
                fail("a connection beside was ended after %r" % got[-100:])
            got += piece
        if not this.keeps:
            self.__init__()


def reset_at_once():
    reset(connect())


def reset_after_lines():
    s = speak(connect())
    s.sendall(this.asks * 3)
    reset(s)


def reset_with_answers():
    s = speak(connect())
    s.sendall(this.asks * 3)
    select.select([s], [], [], 60)
    reset(s)


def reset_in_a_line():
    s = speak(connect())
    s.sendall(b"half")
    reset(s)


def close_at_once():
    connect().close()


def close_in_a_line():
    s = speak(connect())
    s.sendall(this.asks + b"half")
    s.close()


def close_with_much():
    s = speak(connect())
    s.sendall(b"x" * 300000)  # more than one answer: the second meets nobody
    s.close()


def half_close():
    s = speak(connect())
    s.sendall(this.asks + this.asks[:-1])
    s.shutdown(socket.SHUT_WR)
    kept.append(s)


def half_close_at_once():
    s = connect()
    s.shutdown(socket.SHUT_WR)
    kept.append(s)


def silent():
    kept.append(connect())


def garbage():
    s = speak(connect())
    s.sendall(bytes(range(256)) * 3 + b"\n" + b"x" * 20000)
    kept.append(s)


def attack(beside):
    for way in (reset_at_once, reset_after_lines, reset_with_answers,
                reset_in_a_line, close_at_once, close_in_a_line,
                close_with_much, half_close, half_close_at_once, silent, garbage):
        for _ in range(EACH):
            try:
                way()
            except OSError:
                pass  # the server may be the first to end it
        beside.ask()
    while kept:
        reset(kept.pop())
    beside.ask()


def speak_to_the_deaf(beside):
    """Clients that take no lines and then reset, while somebody speaks."""
    deaf = []
    for _ in range(EACH):
        deaf.append(speak(connect(small=True)))
        deaf[-1].sendall(b"deaf\n")
    for i in range(60):
        beside.socket.sendall(b"x" * 200 + b"\n")
        beside.ask(20)
        if i >= 40:
            reset(deaf.pop())
    kept.extend(deaf)


def stop_amid_resets():
    clients = [connect() for _ in range(200)]
    for i, s in enumerate(clients):
        if not this.tls:
            s.sendall(this.asks * 2)
        kept.append(s)
    for i, s in enumerate(clients):
        if i == len(clients) // 2:
            server.send_signal(signal.SIGTERM)
        reset(s)


kept = []
said = tempfile.TemporaryFile()
server = subprocess.Popen(COMMAND, stdout=subprocess.DEVNULL, stderr=said)
try:
    port = listening_port(server, LIMIT) or fail("it does not listen")
    beside = Beside()
    beside.ask()
    attack(beside)
    if this is CHAT:
        speak_to_the_deaf(beside)
    if server.poll() is not None:
        fail("it ended with %d" % server.returncode)
    stop_amid_resets()
    status = server.wait(60)
finally:
    server.kill()
said.seek(0)
text = said.read()
if status != STATUS:
    fail("at SIGTERM it ended with %d; it said: %r" % (status, text[-1000:]))
if any(word in text for word in FORBIDDEN):
    fail("it said: %r" % text[-1000:])
