#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HAProxy before three hosts, with core/examples/hosts/haproxy.cfg: sennit-httpd on
two of them, and sennit-proxy on the third. Each host is a network namespace.
Processes are replaced, drained and killed under load, and no client notices.

With $SENNIT_TEST_PRINT it prints what HAProxy and the kernel counted."""
import os
import socket
import subprocess
import sys

from server import (PATIENCE, Clients, Folder, Program, check, die_with_parent,
                    need, run_all, skip, wait_until)

EXAMPLE = os.path.join(os.path.dirname(__file__),
                       "../../../core/examples/hosts")
OPTIONS = ("--listen", "0.0.0.0:8080", "--status", "/status", "--drain",
           "1000", "--stop-grace", str(PATIENCE), "--stop-timeout",
           str(2 * PATIENCE))


def enter_namespace():
    """Run this file again in a new network namespace."""
    if os.environ.get("INSIDE"):
        return
    for options in ["-n"], ["-rn"]:
        r = subprocess.run(["unshare", *options, "true"],
                           stderr=subprocess.PIPE)
        if not r.returncode:
            os.environ["INSIDE"] = "yes"
            os.execvp("unshare", ["unshare", *options, sys.executable,
                                  *sys.argv])
    skip("no network namespaces: " + r.stderr.decode().strip())


def run(*command):
    r = subprocess.run(command, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    check(not r.returncode, command, r.stdout.decode())
    return r.stdout.decode()


def make_network():
    run("ip", "link", "set", "lo", "up")
    try:
        run("ip", "link", "add", "hosts", "type", "bridge")
    except AssertionError as e:
        skip("no bridge: %s" % e)
    run("ip", "address", "add", "10.77.0.1/24", "dev", "hosts")
    run("ip", "link", "set", "hosts", "up")


class Host:
    """A namespace with a link to the bridge, which lasts as long as a
    process in it."""

    def __init__(self, name, address):
        self.name, self.server = name, None
        self.sleeper = subprocess.Popen(["unshare", "-n", "sleep", "infinity"],
                                        preexec_fn=die_with_parent)
        here = os.readlink("/proc/self/ns/net")
        pid = str(self.sleeper.pid)
        wait_until(lambda: os.readlink("/proc/%s/ns/net" % pid) != here,
                   "a namespace")
        self.inside = ["nsenter", "-t", pid, "-n"]
        run("ip", "link", "add", "to-" + name, "type", "veth", "peer", "name",
            "wire", "netns", pid)
        run("ip", "link", "set", "to-" + name, "master", "hosts", "up")
        for what in (["address", "add", address + "/24", "dev", "wire"],
                     ["link", "set", "wire", "up"]):
            run(*self.inside, "ip", *what)

    def begin(self, folder):
        """Start the server, or the next one, which takes over."""
        program, of = ("SENNIT_PROXY", ["10.77.0.2:8080", "10.77.0.3:8080"]) \
            if self.name == "c" else ("SENNIT_HTTPD", [folder.name])
        if not self.server or self.server.process.poll() is not None:
            # The kernel ends a ring, and its listener, behind the process.
            wait_until(lambda: " 00000000:0000 0A " not in
                       run(*self.inside, "cat", "/proc/net/tcp"),
                       "the port is free")
        self.server = Program(*self.inside, os.environ[program], *OPTIONS,
                              "--hand-over", folder.path(self.name), *of)

    def resets(self):
        """The number of connections that it has reset."""
        return counters(run(*self.inside, "cat", "/proc/net/snmp"))["OutRsts"]

    def kill(self):
        if self.server:
            self.server.process.kill()
            self.server.process.wait()


def counters(text):
    names, values = [line.split()[1:] for line in text.splitlines()
                     if line.startswith("Tcp:")]
    return dict(zip(names, map(int, values)))


class Balancer:
    """HAProxy and its statistics."""

    def __init__(self, folder):
        self.socket = folder.path("stats")
        self.process = subprocess.Popen(
            ["haproxy", "-db", "-f", os.path.join(EXAMPLE, "haproxy.cfg")],
            env=dict(os.environ, STATS=self.socket),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent)
        wait_until(self.listens, "HAProxy listens")

    def listens(self):
        with socket.socket(socket.AF_UNIX) as s:
            return not s.connect_ex(self.socket)

    def rows(self):
        """The rows of the statistics, each as a dictionary of columns."""
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.socket)
            s.sendall(b"show stat\n")
            text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
        lines = [line.split(",") for line in text[2:].split("\n") if line]
        return {"%s/%s" % (line[0], line[1]): dict(zip(lines[0], line))
                for line in lines[1:]}

    def wait(self, host, *status):
        """Wait until HAProxy reports this state of the host."""
        wait_until(lambda: self.rows()["hosts/" + host.name]["status"]
                   .split()[0] in status, "%s is %s" % (host.name, status))

    def kill(self):
        self.process.kill()
        self.process.wait()


def serving(test):
    def run_test():
        with Folder() as folder:
            folder.write("small.txt", "x" * 612)
            begun = list(HOSTS)
            try:
                for host in HOSTS:
                    host.begin(folder)
                front = Balancer(folder)
                begun.append(front)
                for host in HOSTS:
                    front.wait(host, "UP")
                with Clients(("127.0.0.1", 8080), b"/small.txt") as clients:
                    test(folder, front, clients)
                check(not clients.failed, clients.failed[:3])
                are_counted(clients, front)
            finally:
                for one in reversed(begun):
                    one.kill()
    run_test.__name__ = test.__name__
    return run_test


def are_counted(clients, front):
    """Check that HAProxy has passed on every answer and made none itself."""
    asked = sum(clients.asked)
    if os.environ.get("SENNIT_TEST_PRINT"):
        print("asked %d; %s" % (asked, "; ".join(
            "%s: %s, retried %s" % (name, r["stot"], r["wretr"])
            for name, r in front.rows().items() if "hosts/" in name)))
    # It counts an answer behind its last byte.
    wait_until(lambda: int(front.rows()["web/FRONTEND"]["hrsp_2xx"]) >= asked,
               "all are counted")
    row = front.rows()["web/FRONTEND"]
    check(int(row["hrsp_2xx"]) == asked, row["hrsp_2xx"], "of", asked)
    check(row["hrsp_4xx"] == row["hrsp_5xx"] == row["hrsp_other"] == "0", row)


def retries(front):
    return int(front.rows()["hosts/BACKEND"]["wretr"])


@serving
def processes_are_replaced(folder, front, clients):
    for _ in range(2):
        for host in HOSTS:
            clients.go_on()
            old = host.server
            host.begin(folder)
            check(old.process.wait(PATIENCE) == 0, "status", old.text())
    clients.go_on()
    check(not retries(front), "retried", retries(front))
    check(not sum(host.resets() for host in HOSTS), "reset")


@serving
def hosts_are_drained(folder, front, clients):
    for host in HOSTS:
        clients.go_on()
        host.server.process.terminate()
        front.wait(host, "DOWN")
        clients.go_on()
        check(host.server.stop() == 0, "status", host.server.text())
        clients.go_on()
        host.begin(folder)
        front.wait(host, "UP")
    clients.go_on()
    check(not retries(front), "retried", retries(front))


@serving
def a_host_that_dies_is_left_out_and_comes_back(folder, front, clients):
    for host in HOSTS:
        clients.go_on()
        host.server.process.kill()
        front.wait(host, "DOWN")
        clients.go_on()
        before = int(front.rows()["hosts/" + host.name]["stot"])
        host.server.process.wait()
        host.begin(folder)
        front.wait(host, "UP")
        wait_until(lambda: int(front.rows()["hosts/" + host.name]["stot"]) >
                   before, "it serves again")
        clients.go_on()


if __name__ == "__main__":
    for program in "unshare", "nsenter", "ip", "haproxy":
        need(program)
    enter_namespace()
    make_network()
    HOSTS = [Host(name, "10.77.0.%d" % (i + 2))
             for i, name in enumerate("abc")]
    run_all([processes_are_replaced, hosts_are_drained,
             a_host_that_dies_is_left_out_and_comes_back])
