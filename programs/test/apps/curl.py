#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit-httpd as curl sees it: files, ranges, conditions, bodies, TLS."""
import json
import os
import random
import shutil
import subprocess
import sys
import time

from server import Folder, certificate, check, httpd, need, run_all

big = random.Random(1).randbytes(3000001)


def fill(folder):
    folder.write("index.html", "<title>root</title>\n")
    folder.write("hello.txt", "hello, world\n")
    folder.write("empty.txt", "")
    folder.write("a b/c d é.txt", "blanks\n")
    folder.write("sub/index.html", "<title>sub</title>\n")
    folder.write("style.css", "body{}\n")
    folder.write("big.bin", big)
    folder.write(".hidden", "secret\n")
    folder.write(".well-known/x", "known\n")


class Answer:
    def __init__(self, status, head, body):
        self.status, self.body, self.fields = status, body, {}
        for line in head.split("\r\n")[1:]:
            name, _, value = line.partition(": ")
            self.fields[name.lower()] = value


def curl(server, path, *options, scheme="http"):
    r = subprocess.run(
        ["curl", "-s", "-S", "-i", "--max-time", "30", "--path-as-is",
         *options, "%s://127.0.0.1:%d%s" % (scheme, server.at, path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(r.returncode == 0, path, options, r.returncode, r.stderr)
    head, _, body = r.stdout.partition(b"\r\n\r\n")
    while head.startswith(b"HTTP/1.1 100"):
        head, _, body = body.partition(b"\r\n\r\n")
    text = head.decode("latin-1")
    return Answer(int(text.split()[1]), text, body)


def served(test):
    """The test gets a server on a folder with files."""
    def run():
        with Folder() as folder:
            fill(folder)
            with httpd(folder, *test.options) as server:
                test(server, folder)
    run.__name__ = test.__name__
    return run


def with_options(*options):
    def set_options(f):
        f.options = options
        return served(f)
    return set_options


@with_options()
def files_come_whole_with_their_types(server, folder):
    for path, body, kind in [
            ("/", b"<title>root</title>\n", "text/html; charset=utf-8"),
            ("/hello.txt", b"hello, world\n", "text/plain; charset=utf-8"),
            ("/empty.txt", b"", "text/plain; charset=utf-8"),
            ("/style.css", b"body{}\n", "text/css; charset=utf-8"),
            ("/a%20b/c%20d%20%C3%A9.txt", b"blanks\n",
             "text/plain; charset=utf-8"),
            ("/hello.txt?x=../y", b"hello, world\n",
             "text/plain; charset=utf-8"),
            ("//.//hello.txt", b"hello, world\n",
             "text/plain; charset=utf-8"),
            ("/sub/", b"<title>sub</title>\n", "text/html; charset=utf-8"),
            ("/.well-known/x", b"known\n", "application/octet-stream"),
            ("/big.bin", big, "application/octet-stream")]:
        a = curl(server, path)
        check(a.status == 200 and a.body == body, path, a.status, len(a.body))
        check(a.fields["content-type"] == kind, path, a.fields)
        check(int(a.fields["content-length"]) == len(body), path)
        check("date" in a.fields and "server" in a.fields, a.fields)


@with_options()
def files_that_are_kept_and_those_that_are_not_come_whole(server, folder):
    """From memory or by sendfile; the second time without a look at it."""
    for size in 4096, 4097, 65537, 100000, 131072, 131073:
        path = "/%d.bin" % size
        folder.write(path[1:], big[:size])
        for _ in range(2):
            a = curl(server, path)
            check(a.status == 200 and a.body == big[:size], path, a.status)
        a = curl(server, path, "-r", "10-%d" % (size - 10))
        check(a.status == 206 and a.body == big[10:size - 9], path, a.status)


@with_options()
def head_has_the_fields_and_no_body(server, folder):
    for path in "/hello.txt", "/big.bin", "/nothing", "/status":
        whole = curl(server, path)
        a = curl(server, path, "-I")
        check(a.status == whole.status and not a.body, path, a.status)
        if path != "/status":
            for name in "content-length", "content-type":
                check(a.fields[name] == whole.fields[name], path, name)


@with_options()
def what_is_not_there_is_404(server, folder):
    for path in ("/nothing", "/hello.txt/", "/hello.txt/x", "/.hidden",
                 "/sub/nothing", "/a%20b/", "/x%20y%01"):
        a = curl(server, path)
        check(a.status == 404, path, a.status)


@with_options()
def folders_without_a_slash_are_redirected(server, folder):
    a = curl(server, "/a%20b")
    check(a.status == 301 and a.fields["location"] == "/a%20b/", a.fields)
    a = curl(server, "//sub")
    check(a.status == 301 and a.fields["location"] == "/sub/", a.fields)


@with_options()
def a_range_is_answered_with_its_bytes(server, folder):
    size = len(big)
    for path, whole in ("/big.bin", big), ("/hello.txt", b"hello, world\n"):
        size = len(whole)
        for text, first, last in [
                ("0-0", 0, 0), ("0-4", 0, 4), ("5-", 5, size - 1),
                ("-3", size - 3, size - 1), ("2-99999999", 2, size - 1),
                ("-99999999", 0, size - 1)]:
            a = curl(server, path, "-r", text)
            check(a.status == 206, path, text, a.status)
            check(a.body == whole[first:last + 1], path, text, len(a.body))
            check(a.fields["content-range"] ==
                  "bytes %d-%d/%d" % (first, last, size), a.fields)
        for text in "99999999-", "-0":
            a = curl(server, path, "-r", text)
            check(a.status == 416 and not a.body, text, a.status)
            check(a.fields["content-range"] == "bytes */%d" % size)
        for text in ("0-1,3-4", "x", "3-2", "1-x", "",
                     "99999999999999999999-"):
            a = curl(server, path, "-H", "Range: bytes=" + text)
            check(a.status == 200 and a.body == whole, text, a.status)


@with_options()
def conditions_are_those_of_rfc_9110(server, folder):
    a = curl(server, "/hello.txt")
    tag, date = a.fields["etag"], a.fields["last-modified"]
    old, new = "Thu, 01 Jan 1998 00:00:00 GMT", "Fri, 01 Jan 2038 00:00:00 GMT"
    for fields, status in [
            (["If-None-Match: " + tag], 304),
            (["If-None-Match: W/" + tag], 304),
            (["If-None-Match: *"], 304),
            (['If-None-Match: "x", ' + tag], 304),
            (['If-None-Match: "x"'], 200),
            (["If-Modified-Since: " + date], 304),
            (["If-Modified-Since: " + new], 304),
            (["If-Modified-Since: " + old], 200),
            (["If-Modified-Since: nonsense"], 200),
            (['If-None-Match: "x"', "If-Modified-Since: " + new], 200),
            (["If-Match: " + tag], 200),
            (["If-Match: *"], 200),
            (["If-Match: W/" + tag], 412),
            (['If-Match: "x"'], 412),
            (["If-Unmodified-Since: " + date], 200),
            (["If-Unmodified-Since: " + old], 412),
            (["Range: bytes=0-1", "If-Range: " + tag], 206),
            (["Range: bytes=0-1", 'If-Range: "x"'], 200),
            (["Range: bytes=0-1", "If-Range: " + date], 206),
            (["Range: bytes=0-1", "If-Range: " + old], 200),
            (["Range: bytes=0-1", "If-None-Match: " + tag], 304)]:
        options = [o for f in fields for o in ("-H", f)]
        a = curl(server, "/hello.txt", *options)
        check(a.status == status, fields, a.status)
        if status == 304:
            check(not a.body and a.fields["etag"] == tag, fields)


@with_options("--cache-valid", "0")
def a_changed_file_has_another_tag(server, folder):
    for name in "hello.txt", "big.bin":
        a = curl(server, "/" + name)
        folder.write(name, "changed")
        b = curl(server, "/" + name, "-H",
                 "If-None-Match: " + a.fields["etag"])
        check(b.status == 200 and b.body == b"changed", b.status)
        os.unlink(folder.path(name))
        check(curl(server, "/" + name).status == 404, "unlinked")


def fnv1a(data):
    value = 14695981039346656037
    for c in data:
        value = (value ^ c) * 1099511628211 % 2**64
    return "%016x" % value


@with_options()
def bodies_arrive_whole(server, folder):
    data = big[:100000]
    path = folder.write("upload", data)
    small = folder.write("small", b"small")
    for options, sent in [
            (["--data-binary", "@" + path], data),
            (["-H", "Transfer-Encoding: chunked", "--data-binary", "@" + path],
             data),
            (["-H", "Expect: 100-continue", "--data-binary", "@" + path],
             data),
            (["-H", "Expect:", "--data-binary", "@" + small], b"small"),
            (["-d", ""], b"")]:
        a = curl(server, "/status", *options)
        check(a.status == 200, options, a.status)
        said = json.loads(a.body)
        check(said == {"received": len(sent), "fnv1a": fnv1a(sent)}, said)
    a = curl(server, "/hello.txt", "-X", "GET", "--data-binary", "@" + path)
    check(a.status == 200, "a GET with a body")


@with_options("--max-body", "1000")
def bodies_that_are_refused_are_answered(server, folder):
    path = folder.write("upload", big)
    for options in [], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect:"]:
        a = curl(server, "/status", *options, "--data-binary", "@" + path)
        check(a.status == 413, options, a.status)
        check(a.fields["connection"] == "close", a.fields)
    a = curl(server, "/hello.txt", "--data-binary", "x")
    check(a.status == 405 and "GET" in a.fields["allow"], a.status)
    for method, status in ("DELETE", 405), ("OPTIONS", 200), ("BREW", 501):
        a = curl(server, "/hello.txt", "-X", method)
        check(a.status == status, method, a.status)
    a = curl(server, "/hello.txt", "-H", "Expect: miracles")
    check(a.status == 417, a.status)


@with_options()
def many_requests_share_a_connection(server, folder):
    url = "http://127.0.0.1:%d/" % server.at
    names = ["hello.txt", "nothing", "empty.txt", "sub/", "status"] * 4
    r = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w",
                        "%{http_code} %{num_connects}\n"] +
                       [x for n in names for x in (url + n, "-o",
                                                   "/dev/null")][:-2],
                       stdout=subprocess.PIPE)
    lines = r.stdout.decode().split("\n")[:-1]
    check([x.split()[0] for x in lines] ==
          ["200", "404", "200", "200", "200"] * 4, lines)
    check(sum(int(x.split()[1]) for x in lines) == 1, lines)


@with_options()
def http_1_0_is_served(server, folder):
    a = curl(server, "/hello.txt", "-0")
    check(a.status == 200 and a.fields["connection"] == "close", a.fields)
    a = curl(server, "/hello.txt", "-0", "-H", "Connection: keep-alive")
    check(a.fields["connection"] == "keep-alive", a.fields)


@with_options()
def the_status_counts(server, folder):
    before = json.loads(curl(server, "/status").body)
    curl(server, "/hello.txt")
    after = json.loads(curl(server, "/status").body)
    check(after["accepted"] == before["accepted"] + 2, before, after)
    check(after["requests"] >= before["requests"] + 1, before, after)
    check(after["workers"] >= 1 and after["backend"] in ("uring", "epoll"))


def links_lead_nowhere_but_the_folder():
    with Folder() as outer:
        outer.write("secret", "secret\n")
        with Folder() as folder:
            fill(folder)
            os.symlink(outer.path("secret"), folder.path("absolute"))
            os.symlink("../" + os.path.basename(outer.name) + "/secret",
                       folder.path("relative"))
            os.symlink(outer.name, folder.path("folder"))
            os.symlink("hello.txt", folder.path("inside"))
            os.symlink("loop", folder.path("loop"))
            os.mkfifo(folder.path("fifo"))
            for options, inside in ([], 200), (["--no-symlinks"], 404):
                with httpd(folder, *options) as server:
                    for path in ("/absolute", "/relative", "/folder/secret",
                                 "/loop"):
                        a = curl(server, path)
                        check(a.status == 404, options, path, a.status)
                    check(curl(server, "/inside").status == inside, options)
                    check(curl(server, "/fifo").status == 403, options)
                    check(curl(server, "/sub/").status == 200, options)


def the_log_has_a_line_for_each_request():
    with Folder() as folder:
        fill(folder)
        log = folder.path("log")
        with httpd(folder, "--access-log", log) as server:
            curl(server, "/hello.txt", "-A", 'a "quoted" \\ agent',
                 "-e", "http://x/")
            curl(server, "/nothing")
            curl(server, "/big.bin", "-r", "0-9")
            server.stop()
        with open(log) as f:
            lines = f.read().split("\n")
        check(len(lines) == 4 and lines[3] == "", lines)
        check(any('"GET /hello.txt HTTP/1.1" 200 13 "http://x/" '
                  '"a \\x22quoted\\x22 \\x5C agent"' in x for x in lines),
              lines)
        check(any('"GET /big.bin HTTP/1.1" 206 10 ' in x for x in lines),
              lines)
        check(all(x.startswith("127.0.0.1 - - [") for x in lines[:3]), lines)


def tls_serves_the_same():
    if not shutil.which("openssl"):
        return
    with Folder() as folder:
        fill(folder)
        with Folder() as keys:
            options = certificate(keys)
            cert = options[1]
            with httpd(folder, *options) as server:
                for path, body in (("/hello.txt", b"hello, world\n"),
                                   ("/big.bin", big)):
                    for version in "--tlsv1.3", "--tls-max", :
                        options = [version] + (["1.2"] if version ==
                                               "--tls-max" else [])
                        a = curl(server, path, "--cacert", cert, *options,
                                 scheme="https")
                        check(a.status == 200 and a.body == body, path)
                a = curl(server, "/status", "--cacert", cert,
                         "--data-binary", "@" + folder.path("big.bin"),
                         "-H", "Expect:", scheme="https")
                check(a.status == 413, "too large", a.status)
                a = curl(server, "/status", "--cacert", cert, "-d",
                         "x" * 5000, scheme="https")
                check(json.loads(a.body)["received"] == 5000, a.body)
                plain = server.talk(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                check(b"200" not in plain, plain)


if __name__ == "__main__":
    need("curl")
    run_all([files_come_whole_with_their_types,
             files_that_are_kept_and_those_that_are_not_come_whole,
             head_has_the_fields_and_no_body,
             what_is_not_there_is_404,
             folders_without_a_slash_are_redirected,
             a_range_is_answered_with_its_bytes,
             conditions_are_those_of_rfc_9110,
             a_changed_file_has_another_tag,
             bodies_arrive_whole,
             bodies_that_are_refused_are_answered,
             many_requests_share_a_connection,
             http_1_0_is_served,
             the_status_counts,
             links_lead_nowhere_but_the_folder,
             the_log_has_a_line_for_each_request,
             tls_serves_the_same])
