#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit-httpd and requests that no client should send: a request that can be
read in two ways is refused, and a refusal ends the connection."""
import re
import time

from server import Folder, check, httpd, read_all, run_all, statuses

H = b"Host: x\r\n"
GET = b"GET /hello.txt HTTP/1.1\r\nHost: x\r\n\r\n"
HIDDEN = GET  # what a smuggler hides: must not be answered


def get(*fields):
    return (b"GET /hello.txt HTTP/1.1\r\n" +
            b"".join(f + b"\r\n" for f in fields) + b"\r\n")


def post(fields, body):
    return b"POST /status HTTP/1.1\r\n" + H + fields + b"\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked\r\n"

# What it is, the bytes, the statuses of all answers.
TABLE = [
    # How long is the body?
    ("length and chunks", post(b"Content-Length: 5\r\n" + CHUNKED,
                               b"0\r\n\r\n" + HIDDEN), [400]),
    ("chunks and length", post(CHUNKED + b"Content-Length: 5\r\n",
                               b"0\r\n\r\n" + HIDDEN), [400]),
    ("two lengths", post(b"Content-Length: 5\r\nContent-Length: 6\r\n",
                         b"hello" + HIDDEN), [400]),
    ("the same length twice",
     post(b"Content-Length: 5\r\nContent-Length: 5\r\n", b"hello" + HIDDEN),
     [400]),
    ("a list of lengths", post(b"Content-Length: 5, 5\r\n",
                               b"hello" + HIDDEN), [400]),
    ("a length with a sign", post(b"Content-Length: +5\r\n",
                                  b"hello" + HIDDEN), [400]),
    ("a negative length", post(b"Content-Length: -1\r\n", HIDDEN), [400]),
    ("a hexadecimal length", post(b"Content-Length: 0x5\r\n",
                                  b"hello" + HIDDEN), [400]),
    ("an empty length", post(b"Content-Length:\r\n", HIDDEN), [400]),
    ("a blank in a length", post(b"Content-Length: 1 1\r\n", HIDDEN), [400]),
    ("a huge length", post(b"Content-Length: 99999999999999999999\r\n",
                           HIDDEN), [400]),
    ("a length beyond the limit", post(b"Content-Length: 9999999999\r\n",
                                       HIDDEN), [413]),
    ("an unknown coding", post(b"Transfer-Encoding: xchunked\r\n",
                               b"0\r\n\r\n" + HIDDEN), [400]),
    ("chunked is not the last", post(
        b"Transfer-Encoding: chunked, identity\r\n",
        b"0\r\n\r\n" + HIDDEN), [400]),
    ("chunked twice", post(CHUNKED + CHUNKED, b"0\r\n\r\n" + HIDDEN), [400]),
    ("two codings", post(b"Transfer-Encoding: gzip, chunked\r\n",
                         b"0\r\n\r\n" + HIDDEN), [501]),
    ("a tab behind the colon", post(b"Transfer-Encoding:\tchunked\r\n",
                                    b"0\r\n\r\n"), [200]),
    ("a vertical tab", post(b"Transfer-Encoding: \x0bchunked\r\n",
                            b"0\r\n\r\n" + HIDDEN), [400]),
    ("chunks of HTTP/1.0", b"POST /status HTTP/1.0\r\n" + CHUNKED +
     b"\r\n0\r\n\r\n" + HIDDEN, [400]),
    ("a blank before the colon", post(b"Transfer-Encoding : chunked\r\n",
                                      b"0\r\n\r\n" + HIDDEN), [400]),
    ("a blank in a name", post(b"Transfer Encoding: chunked\r\n", HIDDEN),
     [400]),
    ("a folded field", post(b"Transfer-Encoding:\r\n chunked\r\n",
                            b"0\r\n\r\n" + HIDDEN), [400]),
    ("a fold by a tab", get(H[:-2], b"X: a", b"\tb"), [400]),
    ("a first field that is folded", b"GET / HTTP/1.1\r\n Host: x\r\n\r\n",
     [400]),

    # Where do lines end?
    ("LF alone", b"GET /hello.txt HTTP/1.1\nHost: x\n\n" + HIDDEN, [400]),
    ("LF alone behind a field", b"GET /hello.txt HTTP/1.1\r\nHost: x\n"
     b"X: y\r\n\r\n" + HIDDEN, [400]),
    ("LF alone at the end", b"GET /hello.txt HTTP/1.1\r\nHost: x\r\n\n" +
     HIDDEN, [400]),
    ("CR alone", get(b"Host: x\rX: y"), [400]),
    ("CR CR LF", get(b"Host: x\r"), [400]),
    ("a zero in a value", get(b"Host: x", b"X: a\0b"), [400]),
    ("a zero in a name", get(b"Host: x", b"X\0: a"), [400]),
    ("a control in a value", get(b"Host: x", b"X: a\x01b"), [400]),
    ("bytes beyond ASCII in a value", get(b"Host: x", b"X: \xe9"), [200]),
    ("a field without a name", get(b"Host: x", b": a"), [400]),
    ("a field without a colon", get(b"Host: x", b"nonsense"), [400]),
    ("an empty line first", b"\r\n" + GET, [200]),
    ("an empty line between", GET + b"\r\n" + GET, [200, 200]),
    ("two empty lines first", b"\r\n\r\n" + GET, [400]),

    # Chunks.
    ("chunks", post(CHUNKED, b"5\r\nhello\r\n0\r\n\r\n") + GET, [200, 200]),
    ("an extension", post(CHUNKED, b"5;a=b\r\nhello\r\n0\r\n\r\n") + GET,
     [200, 200]),
    ("a trailer", post(CHUNKED, b"0\r\nX: y\r\n\r\n") + GET, [200, 200]),
    ("no size", post(CHUNKED, b"\r\nhello\r\n0\r\n\r\n" + HIDDEN), [400]),
    ("a size with 0x", post(CHUNKED, b"0x5\r\nhello\r\n0\r\n\r\n" + HIDDEN),
     [400]),
    ("a size with a sign", post(CHUNKED, b"+5\r\nhello\r\n0\r\n\r\n" +
                                HIDDEN), [400]),
    ("a size with a blank", post(CHUNKED, b"5 \r\nhello\r\n0\r\n\r\n" +
                                 HIDDEN), [400]),
    ("a size that wraps", post(
        CHUNKED, b"100000000000000005\r\nhello\r\n0\r\n\r\n" + HIDDEN),
     [413]),
    ("LF alone behind a size", post(CHUNKED, b"5\nhello\r\n0\r\n\r\n" +
                                    HIDDEN), [400]),
    ("an LF in an extension", post(
        CHUNKED, b"5;\nxx\r\nhello\r\n0\r\n\r\n" + HIDDEN), [400]),
    ("a chunk that is longer", post(CHUNKED, b"5\r\nhelloXX0\r\n\r\n" +
                                    HIDDEN), [400]),
    ("a chunk that ends by LF", post(CHUNKED, b"5\r\nhello\n0\r\n\r\n" +
                                     HIDDEN), [400]),
    ("a chunk that ends by CR and no LF", post(
        CHUNKED, b"5\r\nhello\rX0\r\n\r\n" + HIDDEN), [400]),
    ("a folded trailer", post(CHUNKED, b"0\r\n X: y\r\n\r\n" + HIDDEN),
     [400]),
    ("endless trailers", post(CHUNKED, b"0\r\n" + b"X: y\r\n" * 2000 +
                              b"\r\n"), [431]),
    ("endless extensions", post(CHUNKED, b"1;" + b"x" * 5000 + b"\r\n"),
     [431]),
    ("many costly chunks", post(CHUNKED, b"1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                b"aaaaaaaaaaaaaaaaaaaa\r\nx\r\n" * 500),
     [431]),
    ("many small chunks", post(CHUNKED, b"1\r\nx\r\n" * 5000 +
                               b"0\r\n\r\n"), [200]),

    # The first line.
    ("two blanks", b"GET  /hello.txt HTTP/1.1\r\n" + H + b"\r\n", [400]),
    ("two blanks behind", b"GET /hello.txt  HTTP/1.1\r\n" + H + b"\r\n",
     [400]),
    ("a tab", b"GET\t/hello.txt HTTP/1.1\r\n" + H + b"\r\n", [400, 501]),
    ("a tab in the target", b"GET /hello\t.txt HTTP/1.1\r\n" + H + b"\r\n",
     [400]),
    ("no version", b"GET /hello.txt\r\n\r\n", [400, 505]),
    ("HTTP/2", b"GET /hello.txt HTTP/2.0\r\n" + H + b"\r\n", [505]),
    ("HTTP/1.2", b"GET /hello.txt HTTP/1.2\r\n" + H + b"\r\n", [200]),
    ("HTTP/1.9 goes on", b"GET /hello.txt HTTP/1.9\r\n" + H + b"\r\n" + GET,
     [200, 200]),
    ("chunks of HTTP/1.2", post(CHUNKED, b"0\r\n\r\n").replace(
        b"HTTP/1.1", b"HTTP/1.2") + GET, [200, 200]),
    ("HTTP/1.10", b"GET /hello.txt HTTP/1.10\r\n" + H + b"\r\n", [400]),
    ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
     [400, 501, 505]),
    ("an unknown method", b"BREW / HTTP/1.1\r\n" + H + b"\r\n", [501]),
    ("lower case", b"get / HTTP/1.1\r\n" + H + b"\r\n", [400]),
    ("TLS to a plain port", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\n", [400]),
    ("blanks behind the version", b"GET / HTTP/1.1 \r\n" + H + b"\r\n",
     [400]),
    ("CONNECT", b"CONNECT x:80 HTTP/1.1\r\n" + H + b"\r\n", [405]),
    ("no host", b"GET /hello.txt HTTP/1.1\r\n\r\n", [400]),
    ("two hosts", get(b"Host: x", b"Host: y"), [400]),
    ("a blank in a host", get(b"Host: a b"), [400]),
    ("a path in a host", get(b"Host: a/b"), [400]),
    ("a user in a host", get(b"Host: a@b"), [400]),
    ("two hosts in one", get(b"Host: a, b"), [400]),
    ("a byte beyond ASCII in a host", get(b"Host: \xe9"), [400]),
    ("half an escape in a host", get(b"Host: a%2"), [400]),
    ("a port that is none", get(b"Host: x:y"), [400]),
    ("two ports", get(b"Host: x:1:2"), [400]),
    ("half a literal", get(b"Host: [::1"), [400]),
    ("an empty literal", get(b"Host: []"), [400]),
    ("a literal and more", get(b"Host: [::1]x"), [400]),
    ("an address of 16 bytes", get(b"Host: [fe80::1]:80"), [200]),
    ("a name with all that may be in it", get(b"Host: a-b_c.%41!:080"),
     [200]),
    ("an empty host", get(b"Host:"), [200]),
    ("a bad host in 1.0", b"GET /hello.txt HTTP/1.0\r\nHost: a b\r\n\r\n",
     [400]),
    ("a target with a bad host",
     b"GET http://a@b/hello.txt HTTP/1.1\r\n" + H + b"\r\n", [400]),
    ("a target with an empty host",
     b"GET http:///hello.txt HTTP/1.1\r\n" + H + b"\r\n", [400]),
    ("a target with a host, and a bad field",
     b"GET http://x/hello.txt HTTP/1.1\r\nHost: a b\r\n\r\n", [400]),
    ("the status of a target with its host",
     b"POST http://x/status HTTP/1.1\r\n" + H + b"Content-Length: 0\r\n\r\n",
     [200]),
    ("no host in 1.0", b"GET /hello.txt HTTP/1.0\r\n\r\n", [200]),
    ("a target with its host",
     b"GET http://x/hello.txt HTTP/1.1\r\n" + H + b"\r\n", [200]),
    ("an upgrade", get(b"Host: x", b"Connection: Upgrade",
                       b"Upgrade: websocket"), [200]),
    ("an h2c upgrade", get(b"Host: x", b"Connection: Upgrade, HTTP2-Settings",
                           b"Upgrade: h2c", b"HTTP2-Settings: AAA"), [200]),
]

# Targets that lead out, or hide that they do.
TARGETS = [
    (b"/../etc/passwd", 400), (b"/..", 400), (b"/sub/../../x", 400),
    (b"/sub/../hello.txt", 400), (b"/%2e%2e/etc/passwd", 400),
    (b"/%2E./x", 400), (b"/.%2e/x", 400), (b"/sub/%2e%2e%2fhello.txt", 400),
    (b"/..%2fx", 400), (b"/..%5cx", 404), (b"/hello.txt%00", 400),
    (b"/%00", 400), (b"/%", 400), (b"/%2", 400), (b"/%zz", 400),
    (b"/%252e%252e/x", 404), (b"/...", 404), (b"/.git/config", 404),
    (b"/%2egit/config", 404), (b"/sub/.htaccess", 404), (b"*", 400),
    (b"hello.txt", 400), (b"//etc/passwd", 404), (b"/./hello.txt", 200),
    (b"/%68ello.txt", 200), (b"/hello.txt?a=../../b", 200),
    (b"/hello.txt#x", 200), (b"/" + b"a" * 2000, 414),
    (b"/" + b"a/" * 1000, 414), (b"/" + b"x" * 9000, 414),
    (b"/\\..\\x", 404), (b"http://x", 200),
    (b"http://x?a=/../b", 200), (b"https://x/hello.txt", 200), (b"ftp://x/hello.txt", 400),
]


def serving(test):
    def run():
        with Folder() as folder:
            folder.write("hello.txt", "hello, world\n")
            folder.write("index.html", "root\n")
            folder.write("sub/x", "x\n")
            with httpd(folder) as server:
                test(server)
    run.__name__ = test.__name__
    return run


def without_dates(answer):
    return re.sub(rb"Date: [^\r]*", b"", answer)


@serving
def what_may_be_read_in_two_ways_is_refused(server):
    wrong = []
    for name, data, expected in TABLE:
        answer = server.talk(data)
        got = statuses(answer)
        if got != expected and not (len(expected) > 1 and len(got) == 1 and
                                    got[0] in expected and
                                    min(expected) >= 400):
            wrong.append((name, expected, got, answer[:80]))
        if got and got[-1] >= 400 and got[-1] not in (404, 405) and \
                b"Connection: close" not in answer:
            wrong.append((name, "stays open"))
    check(not wrong, *("\n  %s" % (w,) for w in wrong))


@serving
def no_target_leads_out(server):
    for target, expected in TARGETS:
        answer = server.talk(b"GET " + target + b" HTTP/1.1\r\n" + H +
                             b"\r\n")
        got = statuses(answer)
        check(got == [expected], target[:60], expected, got)


@serving
def the_answer_does_not_depend_on_how_bytes_are_split(server):
    for name, data, _ in TABLE:
        if len(data) > 400:
            continue
        whole = server.talk(data)
        with server.connect() as s:
            for i in range(0, len(data), 7):
                try:
                    s.sendall(data[i:i + 7])
                except OSError:
                    break
                time.sleep(0.0005)
            try:
                s.shutdown(1)
            except OSError:
                pass
            split = read_all(s)
        # A refusal may come before the rest is sent, which is then reset.
        check(statuses(split) == statuses(whole) or
              (b"<reset>" in split and not statuses(split)),
              name, statuses(whole), statuses(split))


@serving
def pipelined_requests_are_answered_in_order(server):
    names = [b"hello.txt", b"nothing", b"sub/x", b""] * 50
    data = b"".join(b"GET /%s HTTP/1.1\r\n%s\r\n" % (n, H) for n in names)
    answer = server.talk(data)
    check(statuses(answer) == [200, 404, 200, 200] * 50, statuses(answer))
    bodies = re.findall(rb"\r\n\r\n([a-z0-9A-Z, ]+)\n", answer)
    check(bodies == [b"hello, world", b"404 Not Found", b"x", b"root"] * 50)


@serving
def bodies_are_pipelined(server):
    one = post(CHUNKED, b"5\r\nhello\r\n0\r\n\r\n")
    two = post(b"Content-Length: 3\r\n", b"abc")
    answer = server.talk((one + two + GET) * 60)
    check(statuses(answer) == [200] * 180, statuses(answer))
    check(answer.count(b'"received":5,') == 60)
    check(answer.count(b'"received":3,') == 60)


@serving
def heads_up_to_the_limit_and_no_longer(server):
    base = len(get(H[:-2], b"X: "))
    for size, expected in (8192, 200), (8193, 431), (20000, 431):
        data = get(H[:-2], b"X: " + b"a" * (size - base))
        check(len(data) == size)
        check(statuses(server.talk(data)) == [expected], size)
        check(statuses(server.talk(GET * 3 + data)) == [200] * 3 + [expected])
    for count, expected in (99, 200), (100, 431), (2000, 431):
        data = get(H[:-2], *[b"A: b"] * count)
        check(statuses(server.talk(data)) == [expected], count)
    body = b"x" * 20000
    data = b"POST /status HTTP/1.1\r\n" + H + b"X: "
    tail = b"\r\nContent-Length: 20000\r\n\r\n"
    data += b"a" * (8192 - len(data) - len(tail)) + tail
    check(len(data) == 8192)
    answer = server.talk(GET + data + body + GET)
    check(statuses(answer) == [200, 200, 200], answer)
    check(b'"received":20000,' in answer)


@serving
def a_refused_sender_gets_the_answer(server):
    # Bytes that the server does not read would reset the connection.
    for _ in range(20):
        answer = server.talk(post(b"Content-Length: 100000000\r\n",
                                  b"x" * 200000))
        check(statuses(answer) == [413] and b"413 Content" in answer or
              statuses(answer) == [413] and b"Payload" in answer, answer)


if __name__ == "__main__":
    run_all([what_may_be_read_in_two_ways_is_refused,
             no_target_leads_out,
             the_answer_does_not_depend_on_how_bytes_are_split,
             pipelined_requests_are_answered_in_order,
             bodies_are_pipelined,
             heads_up_to_the_limit_and_no_longer,
             a_refused_sender_gets_the_answer])
