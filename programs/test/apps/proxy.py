#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit-proxy between correct and faulty clients and servers."""
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import threading
import time

import raw
from server import (Folder, PATIENCE, check, httpd, proxy, read_all, run_all,
                    skip, statuses, wait_until)
from upstream import GET, OK, answering, ask, read_head, through

big = random.Random(2).randbytes(3000001)


def fetch(server, *options):
    r = subprocess.run(["curl", "-s", "-S", "--max-time", "30", *options],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(r.returncode == 0, options, r.returncode, r.stderr)
    return r.stdout


def a_server_behind_it_looks_the_same():
    if not shutil.which("curl"):
        skip("no curl")
    with Folder() as folder:
        folder.write("big.bin", big)
        folder.write("small.txt", "small\n")
        path = folder.write("upload", big[:200000])
        with httpd(folder) as server, proxy("127.0.0.1:%d" %
                                            server.at) as p:
            url = "http://127.0.0.1:%d/" % p.at
            check(fetch(p, url + "big.bin") == big, "big")
            check(fetch(p, "-0", url + "big.bin") == big, "big by 1.0")
            check(fetch(p, "-r", "5-9", url + "big.bin") == big[5:10])
            for extra in [], ["-H", "Transfer-Encoding: chunked"], \
                    ["-H", "Expect:"]:
                answer = fetch(p, *extra, "--data-binary", "@" + path,
                               url + "status")
                check(b'"received":200000,' in answer, extra, answer)
            head = fetch(p, "-I", url + "big.bin")
            check(b"Content-Length: 3000001\r\n" in head, head)
            tag = re.search(rb"ETag: (.*)\r", head).group(1).decode()
            answer = fetch(p, "-i", "-H", "If-None-Match: " + tag,
                           url + "big.bin")
            check(statuses(answer) == [304], answer)
            one = b"GET /small.txt HTTP/1.1\r\nHost: x\r\n\r\n"
            answer = ask(p, one * 50)
            check(statuses(answer) == [200] * 50, statuses(answer))
            check(answer.count(b"small\n") == 50)


@through(answering(OK))
def fields_of_one_connection_are_not_passed_on(p, u):
    s = p.connect()
    s.sendall(b"GET /a?b HTTP/1.1\r\nHost: example\r\nKeep-Alive: 5\r\n"
              b"Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\n"
              b"TE: trailers\r\nUpgrade: websocket\r\nX-Other: 2\r\n"
              b"Proxy-Authorization: Basic x\r\nProxy-Connection: close\r\n"
              b"X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-Proto: https\r\n\r\n")
    check(b"200 OK" in s.recv(1000))
    s.close()
    head = u.heads[0]
    check(head.startswith(b"GET /a?b HTTP/1.1\r\nHost: example\r\n"), head)
    check(b"X-Other: 2\r\n" in head, head)
    check(b"X-Forwarded-For: 10.0.0.1, 127.0.0.1\r\n" in head, head)
    check(b"X-Forwarded-Proto: http\r\n" in head, head)
    for name in (b"Keep-Alive", b"X-Mine", b"TE:", b"Upgrade", b"Connection",
                 b"Proxy-", b"https"):
        check(name not in head, name, head)


@through(answering(OK))
def connections_to_servers_are_used_again(p, u):
    for _ in range(3):
        answer = ask(p, GET * 20)
        check(statuses(answer) == [200] * 20, answer)
    check(u.accepted == 1, u.accepted)


@through(answering(OK, close=True))
def a_kept_connection_that_has_ended_does_no_harm(p, u):
    for _ in range(30):
        check(statuses(ask(p, GET)) == [200])


@through(lambda u, s: read_head(s) and u.heads.append(1), answering(OK),
         options=["--failures", "1000"])
def a_server_that_ends_before_its_answer_is_replaced(p, dies, lives):
    """A request that must not be sent twice is not retried."""
    for _ in range(10):
        check(statuses(ask(p, GET)) == [200])
    check(dies.heads, "it was never asked")
    post = (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n"
            b"Connection: close\r\n\r\n")
    got = [statuses(p.talk(post, close=False)) for _ in range(10)]
    check([200] in got and [502] in got, got)


@through(answering(OK), answering(OK))
def servers_take_turns(p, one, two):
    for _ in range(20):
        check(statuses(ask(p, GET)) == [200])
    check(len(one.heads) == len(two.heads) == 10, len(one.heads))


@through(answering(OK), options=["--failures", "1", "--down-for", "1000",
                                 "127.0.0.1:1"])
def a_server_that_is_down_is_left_out(p, u):
    for _ in range(20):
        check(statuses(ask(p, GET)) == [200])
    check(len(u.heads) == 20)


def without_a_server_it_is_502():
    with proxy("127.0.0.1:1") as p:
        for _ in range(3):
            check(statuses(ask(p, GET)) == [502])


@through(lambda u, s: time.sleep(5), options=["--answer-timeout", "0.3"])
def a_silent_server_is_504(p, u):
    check(statuses(ask(p, GET)) == [504])


def wrong(answer):
    @through(answering(answer, close=True))
    def test(p, u):
        got = ask(p, GET)
        check(statuses(got) == [502], answer, got)
    return test


def wrong_answers_are_502():
    for answer in (b"nonsense\r\n\r\n", b"", b"HTTP/1.1 200 OK\r\n",
                   b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                   b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                   b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                   b"Content-Length: 3\r\n\r\nabc",
                   b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
                   b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20000 + b"\r\n\r\n",
                   b"HTTP/1.1 101 Switching Protocols\r\n\r\n"):
        wrong(answer)()


CHUNKED = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
           b"5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX: y\r\n\r\n")


@through(answering(CHUNKED))
def chunks_stay_chunks(p, u):
    answer = ask(p, GET * 2)
    check(statuses(answer) == [200, 200], answer)
    check(answer.count(b"\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n") == 2,
          answer)
    answer = ask(p, b"GET / HTTP/1.0\r\n\r\n")
    check(answer.endswith(b"\r\n\r\nhello world"), answer)
    check(b"chunked" not in answer, answer)


@through(answering(b"HTTP/1.0 200 OK\r\n\r\nto the end", close=True))
def an_answer_without_a_length_gets_chunks(p, u):
    answer = ask(p, GET)
    check(answer.endswith(b"\r\na\r\nto the end\r\n0\r\n\r\n"), answer)


def reset(u, s):
    read_head(s)
    s.sendall(b"HTTP/1.0 200 OK\r\n\r\nto the")
    time.sleep(0.3)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


@through(reset)
def a_reset_is_no_end(p, u):
    answer = ask(p, GET)
    check(b"to the" in answer and not answer.endswith(b"0\r\n\r\n"), answer)


@through(answering(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n"
                   b"Link: x\r\n\r\n" + OK))
def answers_that_are_not_final_are_left_out(p, u):
    answer = ask(p, GET * 3)
    check(statuses(answer) == [200] * 3, answer)


@through(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
                   close=True))
def an_answer_that_is_cut_off_looks_cut_off(p, u):
    answer = ask(p, GET)
    check(answer.endswith(b"\r\n\r\nabc"), answer)


def flood(u, s):
    read_head(s)
    s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    u.sent = 0
    while True:
        s.sendall(b"10000\r\n" + bytes(65536) + b"\r\n")
        u.sent += 65536


@through(flood, options=["--stop-timeout", "0.1"])
def a_client_that_does_not_read_stops_the_server(p, u):
    with p.connect() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(GET)
        wait_until(lambda: getattr(u, "sent", 0), "it sends")
        last = -1
        while u.sent != last:
            last = u.sent
            time.sleep(0.3)
        check(u.sent < 64 << 20, u.sent)
        with open("/proc/%d/statm" % p.process.pid) as f:
            resident = int(f.read().split()[1]) * 4096
        if "san" not in os.environ["SENNIT_PROXY"]:
            check(resident < 64 << 20, resident)


def refuse_early(u, s):
    read_head(s)
    s.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n"
              b"Connection: close\r\n\r\n")
    s.shutdown(socket.SHUT_WR)
    time.sleep(0.3)


@through(refuse_early)
def an_answer_before_the_body_is_passed_on(p, u):
    body = b"x" * 100000
    answer = p.talk(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000"
                    b"\r\nConnection: close\r\n\r\n" + body, close=False)
    check(statuses(answer) == [413], answer)


@through(answering(OK))
def what_may_be_read_in_two_ways_is_refused(p, u):
    for name, data, expected in raw.TABLE:
        if expected[0] < 400 or len(expected) > 1 or name == "CONNECT":
            continue
        before = len(u.heads)
        got = statuses(p.talk(data, close=False))
        check(got == expected, name, expected, got)
        for head in u.heads[before:]:  # no smuggled request
            check(b"POST /status" in head, name, head)


def echo(u, s):
    while True:
        data = s.recv(65536)
        if not data:
            s.sendall(b"<end>")
            return
        s.sendall(data)


@through(echo, options=["--tcp"])
def tcp_goes_both_ways_and_ends_by_halves(p, u):
    with p.connect() as s:
        got = []
        reader = threading.Thread(target=lambda: got.append(read_all(s)))
        reader.start()
        s.sendall(big)
        s.shutdown(socket.SHUT_WR)
        reader.join(PATIENCE)
        check(got and got[0] == big + b"<end>", "other bytes")


@through(lambda u, s: s.recv(100), options=["--tcp", "--idle-timeout", "0.3"])
def a_quiet_tcp_connection_ends(p, u):
    with p.connect() as s:
        begun = time.monotonic()
        check(read_all(s) in (b"", b"<reset>"))
        check(time.monotonic() - begun > 0.25)


def wrk_sees_no_error():
    if not shutil.which("wrk"):
        skip("no wrk")
    with Folder() as folder:
        folder.write("small.txt", "x" * 612)
        folder.write("large.bin", bytes(200000))
        with httpd(folder) as a, httpd(folder) as b:
            names = ["127.0.0.1:%d" % s.at for s in (a, b)]
            with proxy("--least", *names) as p:
                for path in "small.txt", "large.bin":
                    r = subprocess.run(
                        ["wrk", "-t1", "-c32", "-d1s",
                         "http://127.0.0.1:%d/%s" % (p.at, path)],
                        stdout=subprocess.PIPE, timeout=60)
                    text = r.stdout.decode()
                    check("requests in" in text, text)
                    check("Socket errors" not in text and
                          "Non-2xx" not in text, text)


if __name__ == "__main__":
    if "SENNIT_PROXY" not in os.environ:
        skip("no sennit-proxy")
    run_all([a_server_behind_it_looks_the_same,
             fields_of_one_connection_are_not_passed_on,
             connections_to_servers_are_used_again,
             a_kept_connection_that_has_ended_does_no_harm,
             a_server_that_ends_before_its_answer_is_replaced,
             servers_take_turns,
             a_server_that_is_down_is_left_out,
             without_a_server_it_is_502,
             a_silent_server_is_504,
             wrong_answers_are_502,
             chunks_stay_chunks,
             an_answer_without_a_length_gets_chunks,
             a_reset_is_no_end,
             answers_that_are_not_final_are_left_out,
             an_answer_that_is_cut_off_looks_cut_off,
             a_client_that_does_not_read_stops_the_server,
             an_answer_before_the_body_is_passed_on,
             what_may_be_read_in_two_ways_is_refused,
             tcp_goes_both_ways_and_ends_by_halves,
             a_quiet_tcp_connection_ends,
             wrk_sees_no_error])
