#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit-httpd and sennit-proxy hand their listening socket to the next
process, or get it from their parent, and drain: no connection is lost."""
import json
import os
import shutil
import signal
import socket
import subprocess

from server import (PATIENCE, Clients, Folder, Program, check, httpd, proxy,
                    read_all, read_answer, run_all, statuses, wait_until)
from upstream import ask

EXAMPLE = os.path.join(os.path.dirname(__file__),
                       "../../../core/examples/hosts")
TIMES, SIZE = 8, 64 << 20
GET = b"GET /hello.txt HTTP/1.1\r\nHost: x\r\n\r\n"
STATUS = b"GET /status HTTP/1.1\r\nHost: x\r\n\r\n"
# What has begun may take its time, also on a busy machine.
PATIENT = "--stop-grace", str(PATIENCE), "--stop-timeout", str(2 * PATIENCE)


def serving(test):
    def run():
        with Folder() as folder:
            folder.write("hello.txt", "hello, world\n")
            test(folder)
    run.__name__ = test.__name__
    return run


def ends_well(server):
    check(server.process.wait(PATIENCE) == 0, "status", server.text())


def replace_under_load(start):
    """start() starts the next server process."""
    server = start()
    try:
        with Clients(("127.0.0.1", server.at), b"/hello.txt") as clients:
            for _ in range(TIMES):
                clients.go_on()
                old, at, server = server, server.at, start()
                ends_well(old)
                check(server.at == at, "another port")
            clients.go_on()
        check(not clients.failed, clients.failed[:3])
    finally:
        server.__exit__(None, None, None)


@serving
def httpd_is_replaced_and_loses_nothing(folder):
    replace_under_load(lambda: httpd(folder, "--hand-over",
                                     folder.path("next"), *PATIENT))


@serving
def proxy_is_replaced_and_loses_nothing(folder):
    with httpd(folder) as server:
        replace_under_load(lambda: proxy("--hand-over", folder.path("next"),
                                         *PATIENT,
                                         "127.0.0.1:%d" % server.at))


@serving
def a_next_process_that_fails_changes_nothing(folder):
    path = folder.path("next")
    with httpd(folder, "--hand-over", path) as server:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            check(len(socket.recv_fds(s, 1, 1)[1]) == 1, "no socket")
        check(statuses(server.talk(GET)) == [200])
        with httpd(folder, "--hand-over", path) as after:
            ends_well(server)
            check(after.at == server.at, "it was not handed over")
            check(statuses(after.talk(GET)) == [200])
        # What a process leaves behind does not stop the next one.
        with httpd(folder, "--hand-over", path) as last:
            check(statuses(last.talk(GET)) == [200])


@serving
def without_a_hand_over_the_address_is_taken(folder):
    with httpd(folder, "--hand-over", folder.path("next")) as server:
        other = subprocess.run(
            [os.environ["SENNIT_HTTPD"], "--listen",
             "127.0.0.1:%d" % server.at, "--hand-over",
             folder.path("elsewhere"), folder.name],
            stderr=subprocess.PIPE, timeout=PATIENCE)
        check(other.returncode == 1 and b"in use" in other.stderr, other)


def make(kind, path):
    if kind == "file":
        with open(path, "w") as f:
            f.write("mine")
    elif kind == "link":
        os.symlink("/nowhere", path)
    else:
        os.mkdir(path)


@serving
def what_is_no_socket_at_the_path_stays(folder):
    """The files at the path and at its temporary name."""
    for kind in "file", "link", "folder":
        for end in "", "~":
            path = folder.path(kind + str(len(end)))
            make(kind, path + end)
            before = os.lstat(path + end)
            r = subprocess.run(
                [os.environ["SENNIT_HTTPD"], "--listen", "127.0.0.1:0",
                 "--hand-over", path, folder.name],
                stderr=subprocess.PIPE, timeout=PATIENCE)
            check(r.returncode == 1 and path.encode() in r.stderr, kind, end,
                  r)
            check(os.lstat(path + end) == before, kind, end, "has changed")


# Passes its standard input on as a socket.
PASS = ("sh", "-c", 'LISTEN_FDS=${COUNT:-1} LISTEN_PID=$$ '
        'exec "$@" 3<&0 0</dev/null', "sh")


@serving
def a_socket_of_others_beside_the_path_stays(folder):
    """A name whose socket has no listener any more is taken."""
    path = folder.path("next")
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
        with socket.socket(socket.AF_UNIX, kind) as s:
            s.bind(path + "~")
            if kind == socket.SOCK_STREAM:
                s.listen()
            before = os.lstat(path + "~").st_ino
            r = subprocess.run(
                [os.environ["SENNIT_HTTPD"], "--listen", "127.0.0.1:0",
                 "--hand-over", path, folder.name],
                stderr=subprocess.PIPE, timeout=PATIENCE)
            check(r.returncode == 1 and path.encode() in r.stderr, kind, r)
            check(os.lstat(path + "~").st_ino == before, kind, "has changed")
        if kind == socket.SOCK_STREAM:
            with httpd(folder, "--hand-over", path):
                check(not os.path.exists(path + "~"), "left")


def passed(listener, folder, *options):
    """A server that gets the socket from its parent."""
    return Program(*PASS, os.environ["SENNIT_HTTPD"], *options, folder.name,
                   stdin=listener)


def pause(server):
    """Stop all threads of the process, as a debugger does."""
    folder = "/proc/%d/task" % server.process.pid

    def is_stopped(thread):
        with open(os.path.join(folder, thread, "stat")) as f:
            return f.read().rpartition(") ")[2].startswith("T")

    server.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: all(map(is_stopped, os.listdir(folder))), "it stops")


@serving
def who_waits_is_served_by_the_next_process(folder):
    """Connections of a process that is stopped, and of one that has ended."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        first = passed(listener, folder)
        pause(first)
        for stop in first, None:
            waiting = [socket.create_connection(listener.getsockname(),
                                                PATIENCE) for _ in range(32)]
            for s in waiting:
                s.sendall(GET)
            with passed(listener, folder, *PATIENT) as server:
                for s in waiting:
                    check(statuses(read_answer(s)) == [200])
                    s.close()
                if stop:
                    stop.process.send_signal(signal.SIGCONT)
                    check(stop.stop() == 0, "status")
                check(statuses(server.talk(GET)) == [200])


@serving
def systemd_passes_the_socket(folder):
    if not shutil.which("systemd-socket-activate"):
        print("skipped: no systemd-socket-activate")
        return
    with socket.create_server(("127.0.0.1", 0)) as s:
        at = s.getsockname()
    activated = subprocess.Popen(
        ["systemd-socket-activate", "-l", "127.0.0.1:%d" % at[1],
         "-E", "SENNIT_IO", os.environ["SENNIT_HTTPD"], folder.name],
        stderr=subprocess.PIPE)
    try:
        check(b"Listening" in activated.stderr.readline(), "it listens")
        for _ in range(3):
            with socket.create_connection(at, PATIENCE) as s:
                s.sendall(GET)
                check(statuses(read_answer(s)) == [200])
        activated.terminate()
        check(activated.wait(PATIENCE) == 0, "status")
    finally:
        activated.kill()


@serving
def the_units_are_valid(folder):
    if not shutil.which("systemd-analyze"):
        print("skipped: no systemd-analyze")
        return
    units = []
    for name in os.listdir(EXAMPLE):
        if name.startswith("web"):
            with open(os.path.join(EXAMPLE, name)) as f:
                text = f.read().replace("/usr/bin/sennit-httpd",
                                        os.environ["SENNIT_HTTPD"])
            units.append(folder.write(name.replace("@", "@1"), text))
            folder.write(name, text)
    r = subprocess.run(["systemd-analyze", "verify", "--man=no", *units],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = [line for line in r.stdout.decode().splitlines() if "web" in line]
    check(len(units) == 2 and not r.returncode and not said, r)


@serving
def several_sockets_are_refused(folder):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        other = subprocess.run(
            [*PASS, os.environ["SENNIT_HTTPD"], folder.name],
            env=dict(os.environ, COUNT="2"), stdin=listener,
            stderr=subprocess.PIPE, timeout=PATIENCE)
    check(other.returncode == 1 and b"LISTEN_FDS" in other.stderr, other)


def drains(server):
    """It reports that it ends, and continues until the second signal."""
    with server.connect() as kept, server.connect() as idle:
        kept.sendall(STATUS)
        check(statuses(read_answer(kept)) == [200])
        server.process.terminate()

        def ending():
            answer = ask(server, STATUS)
            body = json.loads(answer.partition(b"\r\n\r\n")[2])
            check(body["stopping"] == (statuses(answer) == [503]), answer)
            return body["stopping"]
        wait_until(ending, "it says that it ends")
        check(statuses(ask(server, GET)) == [200], "it goes on")
        kept.sendall(GET)
        answer = read_answer(kept)
        check(statuses(answer) == [200] and
              b"\r\nConnection: close\r\n" in answer, answer)
        idle.sendall(GET)
        check(statuses(read_answer(idle)) == [200], "an idle connection")
    check(server.stop() == 0, "status")


@serving
def httpd_drains_before_it_stops(folder):
    with httpd(folder, "--drain", "1000", *PATIENT) as server:
        drains(server)


@serving
def proxy_drains_before_it_stops(folder):
    with httpd(folder) as server:
        with proxy("--status", "/status", "--drain", "1000", *PATIENT,
                   "127.0.0.1:%d" % server.at) as front:
            drains(front)


@serving
def a_drain_ends_by_itself(folder):
    with httpd(folder, "--drain", "0.2") as server:
        check(server.stop() == 0, "status")


@serving
def a_hand_over_needs_no_drain(folder):
    path = folder.path("next")
    server = httpd(folder, "--hand-over", path, "--drain", "1000")
    with httpd(folder, "--hand-over", path):
        ends_well(server)


def holds_the_socket(server):
    """Whether the process has the socket that listens at its port."""
    with open("/proc/net/tcp") as f:
        inodes = [line.split()[9] for line in f
                  if line.split()[1].endswith(":%04X" % server.at) and
                  line.split()[3] == "0A"]
    folder = "/proc/%d/fd" % server.process.pid
    return "socket:[%s]" % inodes[0] in [
        os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)]


@serving
def a_signal_behind_the_hand_over_cuts_nothing_off(folder):
    """The service manager may stop this process after it started the next."""
    folder.write("big.bin", bytes(SIZE))  # no buffer takes it
    path = folder.path("next")
    server = httpd(folder, "--hand-over", path, *PATIENT)
    with server.connect() as s:
        s.sendall(GET.replace(b"hello.txt", b"big.bin")[:-2] +
                  b"Connection: close\r\n\r\n")
        s.recv(1)
        with httpd(folder, "--hand-over", path):
            wait_until(lambda: not holds_the_socket(server), "it stops")
            server.process.terminate()
            rest = read_all(s)
            check(len(rest) > SIZE, len(rest))
            ends_well(server)


if __name__ == "__main__":
    run_all([httpd_is_replaced_and_loses_nothing,
             proxy_is_replaced_and_loses_nothing,
             a_next_process_that_fails_changes_nothing,
             without_a_hand_over_the_address_is_taken,
             what_is_no_socket_at_the_path_stays,
             a_socket_of_others_beside_the_path_stays,
             who_waits_is_served_by_the_next_process,
             systemd_passes_the_socket,
             the_units_are_valid,
             several_sockets_are_refused,
             httpd_drains_before_it_stops,
             proxy_drains_before_it_stops,
             a_drain_ends_by_itself,
             a_hand_over_needs_no_drain,
             a_signal_behind_the_hand_over_cuts_nothing_off])
