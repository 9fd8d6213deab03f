#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts sennit-httpd on a port of the kernel's choice, in a temporary folder,
and ends it when the test ends, also by a failure.

$SENNIT_HTTPD and $SENNIT_PROXY name the programs; $SENNIT_IO goes on to them.
"""
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 60  # seconds that nothing takes, even on a busy machine


def is_sanitized():
    """Whether a sanitizer makes the programs several times slower."""
    with open(os.environ["SENNIT_HTTPD"], "rb") as f:
        program = f.read()
    return b"__tsan_init" in program or b"__asan_init" in program


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def need(program):
    if not shutil.which(program):
        skip("no " + program)


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        check(time.monotonic() < end, "never:", what)
        time.sleep(0.01)


class Program:
    """A server that prints its address on standard error."""

    def __init__(self, *arguments, env=None, limit=None, may_fail=False,
                 stdin=None, stdout=subprocess.DEVNULL):
        """may_fail: a stop may cut connections off."""
        def prepare():
            die_with_parent()
            if limit:
                import resource
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        self.may_fail = may_fail
        self.said = tempfile.NamedTemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            arguments, stdin=stdin, stderr=self.said,
            stdout=stdout, preexec_fn=prepare, env=dict(os.environ, **(env or {})))
        wait_until(lambda: self.port() or self.process.poll() is not None,
                   "it listens")
        check(self.process.poll() is None, "it ended:", self.text())
        self.at = self.port()

    def text(self):
        with open(self.said.name) as f:
            return f.read()

    def port(self):
        found = re.search(r"://[^ ]*:(\d+)\n", self.text())
        return int(found.group(1)) if found else None

    def __enter__(self):
        return self

    def stop(self, signal_number=signal.SIGTERM):
        """Stop it; returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        return self.process.wait(PATIENCE)

    def __exit__(self, kind, value, trace):
        try:
            ended = self.process.poll()  # by itself
            status = self.stop()
        except subprocess.TimeoutExpired:
            status = "none: it does not stop"
        finally:
            self.process.kill()
            self.process.wait()
        allowed = (0, 1) if self.may_fail else (0,)
        if kind or status not in allowed or "Sanitizer" in self.text():
            sys.stderr.write(self.text())
            sys.stderr.write("its exit status: %s%s\n" % (
                status, "" if ended is None else ", before it was stopped"))
        if not kind:
            check(status in allowed, "exit status", status)
            check("Sanitizer" not in self.text(), "a sanitizer's report")

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.at), PATIENCE)
        return s

    def talk(self, data, close=True):
        """Send the bytes. Returns all that is received until the end."""
        with self.connect() as s:
            s.sendall(data)
            try:
                if close:
                    s.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has refused already
            return read_all(s)


def read_answer(s):
    """One answer; b"" at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = s.recv(65536)
        if not part:
            return data
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].split()[0])
    while len(body) < size:
        part = s.recv(65536)
        check(part, "cut off:", len(body), "of", size)
        body += part
        data += part
    return data


def read_all(s):
    parts = []
    try:
        while True:
            part = s.recv(65536)
            if not part:
                break
            parts.append(part)
    except ConnectionResetError:
        parts.append(b"<reset>")
    return b"".join(parts)


def statuses(answer):
    """The status codes of the answers in these bytes."""
    return [int(m) for m in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]


class Clients:
    """Threads that request a path, inside `with`; every other one with a new
    connection for each request. A connection whose last answer said that it
    closes is not used again. `asked` counts the answers, `failed` has all that
    were no complete 200."""

    def __init__(self, at, path, count=8):
        self.at, self.request = at, b"GET %s HTTP/1.1\r\nHost: x\r\n" % path
        self.asked, self.failed, self.ending = [0] * count, [], False
        self.threads = [threading.Thread(target=self.run, args=(i,),
                                         daemon=True) for i in range(count)]

    def __enter__(self):
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *unused):
        self.ending = True
        for t in self.threads:
            t.join(PATIENCE)

    def run(self, number):
        once = b"Connection: close\r\n" if number % 2 else b""
        s = None
        while not self.ending:
            try:
                s = s or socket.create_connection(self.at, PATIENCE)
                s.sendall(self.request + once + b"\r\n")
                answer = read_answer(s)
                check(statuses(answer)[:1] == [200], answer[:80])
                self.asked[number] += 1
                if b"\r\nconnection: close\r\n" in answer.lower():
                    s.close()
                    s = None
            except Exception as e:
                self.failed.append((number, repr(e)))
                s = None

    def go_on(self, count=100):
        """Wait for some more answers, at least one for each."""
        before = list(self.asked)
        wait_until(lambda: self.failed or
                   (sum(self.asked) >= sum(before) + count and
                    all(now > was for now, was in zip(self.asked, before))),
                   "answers go on")
        check(not self.failed, len(self.failed), "failed:", self.failed[:3])


class Folder:
    """A temporary folder with files in it."""

    def __enter__(self):
        self.name = tempfile.mkdtemp(prefix="sennit-")
        os.chmod(self.name, 0o755)
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.name, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.name, *names)

    def write(self, name, data):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return path


def certificate(folder):
    """The options of a server that takes TLS, with a certificate of its
    own, which goes to keys/ of the folder."""
    need("openssl")
    key, cert = folder.write("keys/key", ""), folder.write("keys/cert", "")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
         cert, "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=IP:127.0.0.1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return "--cert", cert, "--key", key


def httpd(folder, *options, **more):
    return Program(os.environ["SENNIT_HTTPD"], "--listen", "127.0.0.1:0",
                   "--stop-grace", "0.1", "--status", "/status", *options,
                   folder.name, **more)


def proxy(*arguments, **more):
    return Program(os.environ["SENNIT_PROXY"], "--listen", "127.0.0.1:0",
                   "--stop-grace", "0.1", *arguments, **more)


def run_all(tests):
    """Run each function whose name is a claim."""
    failed = 0
    for test in tests:
        started = time.monotonic()
        try:
            test()
            print("ok   %s (%.1f s)" % (test.__name__,
                                        time.monotonic() - started))
        except Exception as e:
            failed += 1
            print("FAIL %s: %s: %s" % (test.__name__, type(e).__name__, e))
        sys.stdout.flush()
    sys.exit(1 if failed else 0)
