#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""with_curl.py [server=PROGRAM] [store=PROGRAM] [client=PROGRAM] - the examples
and their real peers. curl is a client of the servers: connections that are used
again, HEAD, bodies in chunks and with a length, "Expect: 100-continue",
conditions, refusals. The client asks Python's server, and ours."""
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..",
                                "testing"))
from listening import listening_port  # noqa: E402

PROGRAMS = dict(word.split("=", 1) for word in sys.argv[1:])
LIMIT = time.monotonic() + 200


def check(holds, *what):
    if not holds:
        sys.exit("FAILED: " + " ".join(str(w) for w in what))


class Running:
    def __init__(self, program):
        self.program = program

    def __enter__(self):
        self.process = subprocess.Popen([self.program, "127.0.0.1:0"])
        port = listening_port(self.process, LIMIT)
        check(port, "it does not listen")
        return "http://127.0.0.1:%d" % port

    def __exit__(self, *unused):
        ended = self.process.poll()
        self.process.kill()
        self.process.wait()
        check(ended is None, self.program, "ended with", ended)


def curl(*args, data=None):
    """What curl prints: the body, and what -w asks for."""
    done = subprocess.run(["curl", "-sS", "-m", "150", "--noproxy", "*", *args],
                          input=data, stdout=subprocess.PIPE, check=False)
    check(done.returncode == 0, args, "curl ended with", done.returncode)
    return done.stdout


def client(*arguments):
    return subprocess.run([PROGRAMS["client"], *arguments], check=True,
                          stdout=subprocess.PIPE).stdout


def test_server():
    with Running(PROGRAMS["server"]) as url:
        check(curl(url + "/") == b"hello\n")
        head = curl("-I", url + "/").lower()
        check(b"content-length: 6\r\n" in head, head)
        check(b"content-type: text/plain\r\n" in head, head)
        # One connection for all, and none for 1.0.
        many = curl("-w", "%{http_code} %{num_connects}\n", *[url + "/"] * 5)
        check(many == b"hello\n200 1\n" + 4 * b"hello\n200 0\n", many)
        many = curl("-0", "-w", "%{http_code} %{num_connects}\n",
                    *[url + "/"] * 2)
        check(many == 2 * b"hello\n200 1\n", many)
        check(curl("-w", "%{http_code}", url + "/nothing") == b"404")
        check(curl("-w", "%{http_code}", "-H", "X: " + "y" * 9000,
                   url + "/").endswith(b"431"))
        check(curl("-w", "%{http_code}", "-H", "Host: a b",
                   url + "/").endswith(b"400"))
        if "client" in PROGRAMS:
            check(client(url, "/") == b"hello\n")


def test_store():
    large = os.urandom(3 << 20)
    with Running(PROGRAMS["store"]) as url, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large")
        with open(path, "wb") as f:
            f.write(large)
        status = ("-w", " %{http_code}")
        check(curl(*status, "-T", path, url + "/a") == b"Created\n 201")
        check(curl(url + "/a") == large)
        for fields in ((), ("-H", "Expect: 100-continue"),
                       ("-H", "Transfer-Encoding: chunked"),
                       ("-H", "Transfer-Encoding: chunked",
                        "-H", "Expect: 100-continue")):
            said = curl(*status, *fields, "-T", path, url + "/a")
            check(said == b"OK\n 200", fields, said)
            check(curl(url + "/a") == large, fields)
        seen = curl("-v", *status, "-H", "Expect: 100-continue", "--stderr",
                    "-", "-T", path, "-o", "/dev/null", url + "/a")
        check(b"< HTTP/1.1 100 Continue" in seen, seen[-500:])
        check(curl(*status, "-T", "-", url + "/b", data=b"short") ==
              b"Created\n 201")
        check(sorted(curl(url + "/").split()) == [b"a", b"b"])
        head = curl("-I", url + "/a").lower()
        check(b"content-length: %d\r\n" % len(large) in head, head)
        check(b"server: store\r\n" in head, head)
        date = head.split(b"last-modified: ")[1].split(b"\r")[0].title()
        date = date.replace(b"Gmt", b"GMT").decode()
        check(curl(*status, "-H", "If-Modified-Since: " + date,
                   url + "/a") == b" 304", date)
        check(curl(*status, "-X", "DELETE", url + "/b") == b"OK\n 200")
        check(curl(*status, url + "/b") == b"Not Found\n 404")
        check(curl(*status, "-X", "BREW", url + "/b").endswith(b"405"))
        # Larger than the limit: refused before and while it comes.
        with open(path, "ab") as f:
            f.truncate((16 << 20) + 1)
        for fields in ((), ("-H", "Transfer-Encoding: chunked")):
            said = subprocess.run(
                ["curl", "-sS", "-m", "150", *status, *fields, "-T", path,
                 url + "/c"], stdout=subprocess.PIPE, check=False).stdout
            check(said.endswith(b"413"), fields, said)
        check(curl(*status, url + "/c").endswith(b"404"))


def test_client():
    """Python's server sends an answer with a length, one in chunks and one up to
    the end of the connection."""
    body = os.urandom(200000)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            if self.path == "/length":
                self.send_header("Content-Length", str(len(body)))
            elif self.path == "/chunks":
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Connection", "close")
            self.end_headers()
            if self.path != "/chunks":
                self.wfile.write(body)
                return
            for at in range(0, len(body), 3000):
                part = body[at:at + 3000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *unused):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d" % server.server_address[1]
        for target in "/length", "/chunks", "/end":
            check(client(url, target) == body, target)
        server.shutdown()


if "client" in PROGRAMS:
    test_client()
if not shutil.which("curl"):
    print("skipped: no curl")
    sys.exit(77)
if "server" in PROGRAMS:
    test_server()
if "store" in PROGRAMS:
    test_store()
