# SPDX-License-Identifier: Apache-2.0
"""once.py - what sennit-top --once and --json print of a known program, and
what they say when there is nothing to show."""
import json
import os
import socket
import threading

import stage
from stage import check, run

shown = stage.start()


def by_pid_and_by_path_are_shown():
    for target in (str(shown.pid), stage.path):
        done = run("--once", target)
        check(done.returncode == 0, "it succeeds: " + done.stderr)
        for words in ("shown, process %d\n" % shown.pid,
                      "scheduler stage: 2 threads,",
                      "fibers: 1 running, 0 ready, 2 blocked; 3 tasks"):
            check(words in done.stdout, words + " in\n" + done.stdout)
        lines = done.stdout.splitlines()
        hot = [line for line in lines if "hot one" in line]
        check(len(hot) == 1 and "%" in hot[0], "the hot task is shown once")
        waits = [line for line in lines if "event 0x" in line]
        check(len(waits) == 1 and 'long\\x1b[2J "waiter"' in waits[0],
              "the waiter is shown, harmless: " + repr(waits))
        sleeps = [line for line in lines if "sleeper" in line]
        check(len(sleeps) == 1 and "its sleep, 3" in sleeps[0] and
              "s left" in sleeps[0],
              "the sleeper has a deadline: " + repr(sleeps))
        check(done.stdout.isprintable() or
              all(c.isprintable() or c == "\n" for c in done.stdout),
              "no control characters")


def json_is_one_line_that_others_can_read():
    done = run("--json", str(shown.pid))
    check(done.returncode == 0 and done.stdout.count("\n") == 1, "one line")
    snapshot = json.loads(done.stdout)
    check(snapshot["sennit_live"] == 1, "the version of the protocol")
    stage_ = snapshot["schedulers"][0]
    check(stage_["name"] == "stage", "the scheduler's name")
    check(len(stage_["workers"]) == 2, "its workers")
    check({w["state"] for w in stage_["workers"]} <=
          {"busy", "searching", "asleep"}, "their states")
    check(stage_["queued"] == 3 and
          sorted(w["queued"] for w in stage_["workers"]) == [0, 3],
          "the tasks that wait: %s" % stage_)
    check(stage_["hot"][0]["task"] == "hot one", "the hot task")
    check(stage_["hot"][0]["run_permille"] > 500, "it runs most of the time")
    waiters = {w["task"]: w for w in stage_["waiters"]}
    check(waiters["sleeper"]["left_ns"] > 3000 * 10**9, "time left")
    check(waiters["sleeper"]["worker"] in (0, 1), "the worker of a waiter")


def refuses(words, *arguments):
    done = run(*arguments)
    check(done.returncode != 0 and words in done.stderr,
          "%s: %s" % (arguments, done.stderr))


def stacks_are_merged():
    done = run("--stacks", str(shown.pid))
    check(done.returncode == 0, "it succeeds: " + done.stderr)
    check("fibers, " in done.stdout and " wait for event" in done.stdout and
          " wait for the end of its sleep" in done.stdout, "stacks in " + done.stdout)
    done = run("--stacks=merged-json", str(shown.pid))
    merged = json.loads(done.stdout)
    check(merged["format"] == "sennit-merged-stacks" and
          sum(g["count"] for g in merged["groups"]) == merged["fibers"] == 3,
          "each fiber counts once: " + done.stdout)
    refuses("does not support this format", "--stacks=text", str(shown.pid))


def what_cannot_be_shown_is_named():
    refuses("has no live view", "--once", str(os.getpid()))
    refuses("process 999999999: No such file", "--once", "999999999")
    refuses("No such file", "--once", stage.folder + "/none")
    refuses("not the path of a socket", "--once", "x" * 200)
    refuses("not a terminal", stage.path)
    refuses("--help", "--once")
    refuses("--help", "-d", "0", stage.path)
    refuses("--help", "-d", "1x", stage.path)
    check("usage:" in run("--help").stdout, "help")


def answers(words, *texts):
    """The message of sennit-top for a server that is not a live view."""
    place = stage.folder + "/other"
    server = socket.socket(socket.AF_UNIX)
    server.bind(place)
    server.listen()

    def serve():
        client, _ = server.accept()
        for text in texts:
            client.sendall(text)
        client.close()

    thread = threading.Thread(target=serve)
    thread.start()
    refuses(words, "--once", place)
    thread.join()
    server.close()
    os.unlink(place)


def a_broken_server_does_no_harm():
    hello = b'{"sennit_live":1,"type":"hello","pid":1}\n'
    answers("closed the connection")
    answers("not a live view", b"HTTP/1.1 400 Bad Request\r\n\r\n")
    answers("not a live view", b'{"sennit_live":2,"type":"hello"}\n')
    answers("not a live view", b"[" * 100000 + b"\n")
    answers("not a live view", b'{"a":"\\ud800","b":"\\\n')
    answers("too many", b'{"sennit_live":1,"type":"error",'
            b'"error":"too many clients"}\n')
    answers("not a live view", hello, b'{"sennit_live":1,"type":\n')
    answers("closed the connection", hello, b"x" * (3 << 20))


by_pid_and_by_path_are_shown()
json_is_one_line_that_others_can_read()
stacks_are_merged()
what_cannot_be_shown_is_named()
a_broken_server_does_no_harm()
check(stage.stop(shown) == 0, "the program ends well")
check(not os.path.lexists(stage.path), "the socket is removed")
