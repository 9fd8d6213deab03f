#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit-httpd with clients that disconnect in the middle, or send many
requests, beside innocent ones.

The wait of an innocent client is measured by the number of answers that the
greedy one gets before it, in the order of the access log. Both send while the
server is stopped, so that it finds both when it continues, however busy the
machine is. A worker writes its lines in the order in which it answers.
"""
import fcntl
import os
import re
import signal
import socket
import ssl
import struct
import termios

from server import (Folder, certificate, check, httpd, need, read_answer,
                    run_all, statuses, wait_until, PATIENCE)

PART = 100000  # bytes of each of a greedy client's requests or answers
CLIENTS = 6
# Requests of a greedy one for which an innocent client may wait: a fiber has 64
# operations that need not wait before others have their turn, and a request
# takes 7 of them at least, of 16 KiB each. Without that it would be all.
TURNS = 64 // 7 + 1


# No file, which a helper thread might have to read.
INNOCENT = b"GET /status?innocent HTTP/1.1\r\nHost: x\r\n\r\n"


def get(name):
    return b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % name


def post(size):
    return (b"POST /status?greedy HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" %
            size + bytes(size))


def over_tls(s):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(s)


class Clients:
    """Connections that are idle after an answer."""

    def __init__(self, server, count, wrap):
        self.all = [wrap(server.connect()) for _ in range(count)]
        for s in self.all:
            s.sendall(get(b"greedy"))
            check(statuses(read_answer(s)) == [200])

    def __enter__(self):
        return self.all

    def __exit__(self, *unused):
        for s in self.all:
            s.close()


def state_of(process):
    with open("/proc/%d/stat" % process.pid) as f:
        return f.read().rpartition(") ")[2][0]


def ask_at_once(server, greedy, innocents, request):
    """When the server continues, as many requests of the greedy client as fit
    have arrived, and then one of each other client. The greedy one reads
    nothing before all others have their answers."""
    server.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: state_of(server.process) == "T", "it stops")
    send_what_fits(greedy, request)
    for s in innocents:
        s.sendall(INNOCENT)
    for s in innocents:
        wait_until(lambda: not unacknowledged(s), "it has come")
    server.process.send_signal(signal.SIGCONT)
    for s in innocents:
        check(statuses(read_answer(s)) == [200])


def unacknowledged(s):
    """The number of bytes that the kernel of the peer has not received."""
    return struct.unpack("i", fcntl.ioctl(s, termios.TIOCOUTQ, bytes(4)))[0]


def send_what_fits(s, request):
    s.setblocking(False)
    sent = 0
    try:
        while sent < 100 * len(request):
            sent += s.send(request)
    except ssl.SSLWantWriteError:
        pass
    wait_until(lambda: unacknowledged(s) < sent, "some of it has come")


def lines_before_the_last_innocent(log):
    with open(log) as f:
        names = re.findall(r"(greedy|innocent) HTTP", f.read())
    last = len(names) - names[::-1].index("innocent")
    return names[CLIENTS:last].count("greedy")


def bounded_beside(request):
    """Several innocent clients and one that sends the request many times, on
    one worker."""
    with Folder() as folder:
        folder.write("greedy", bytes(PART))
        log = folder.path("log")
        with httpd(folder, *certificate(folder), "--workers", "1",
                   "--access-log", log, "--stop-timeout", "0.1",
                   may_fail=True) as server:
            with Clients(server, 1, over_tls) as (greedy,), \
                    Clients(server, CLIENTS - 1, over_tls) as innocents:
                ask_at_once(server, greedy, innocents, request)
                greedy.shutdown(socket.SHUT_RDWR)
        waited = lines_before_the_last_innocent(log)
        check(waited <= TURNS, "innocent clients waited for", waited)


def who_reads_all_by_tls_leaves_others_their_turn():
    bounded_beside(get(b"greedy"))


def who_sends_all_by_tls_leaves_others_their_turn():
    bounded_beside(post(PART))


# --- clients that leave -------------------------------------------------------

def connections(innocent):
    """The number of connections that the server counts, with this one."""
    innocent.sendall(INNOCENT)
    answer = read_answer(innocent)
    check(statuses(answer) == [200], answer)
    return int(re.search(rb'"connections":(\d+)', answer).group(1))


def leave(s, reset):
    if reset:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                     struct.pack("ii", 1, 0))
    s.close()


def leaving(server, innocent, data, wrap):
    """Clients send the data and disconnect. The innocent client gets its
    answers before and after that, and is then the only connection."""
    for reset in False, True:
        clients = [wrap(server.connect()) for _ in range(10)]
        for s in clients:
            s.sendall(data)
        wait_until(lambda: connections(innocent) == 11, "they have come")
        for s in clients:
            leave(s, reset)
        wait_until(lambda: connections(innocent) == 1, "they have gone")


def who_leaves_holds_no_connection():
    patience = [a for name in ("head", "body", "send", "idle")
                for a in ("--%s-timeout" % name, "1000")]
    steps = (b"", get(b"greedy")[:20], post(1000)[:-900],
             get(b"greedy") * 100)
    with Folder() as folder:
        folder.write("greedy", bytes(PART))
        for options, wrap in (((), lambda s: s),
                              (certificate(folder), over_tls)):
            with httpd(folder, "--workers", "1", *options,
                       *patience) as server, \
                    wrap(server.connect()) as innocent:
                for data in steps:
                    leaving(server, innocent, data, wrap)
                if options:  # in the middle of the handshake
                    leaving(server, innocent, b"\x16\x03\x01\x02\x00\x01",
                            lambda s: s)


if __name__ == "__main__":
    need("openssl")
    run_all([who_leaves_holds_no_connection,
             who_reads_all_by_tls_leaves_others_their_turn,
             who_sends_all_by_tls_leaves_others_their_turn])
