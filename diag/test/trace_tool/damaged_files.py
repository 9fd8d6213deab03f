#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file ends sennit-trace by a signal. One that is cut off is read as far as
it goes; what is no trace is refused in one line."""
import json
import os
import random
import subprocess
import sys
import xml.etree.ElementTree as xml

from trace_file import FOR, Trace, check, equal, run, target

COMMANDS = [["json"], ["summary"], ["svg", "--by", "fiber"], ["flame"],
            ["perfetto"]]


def make():
    t = Trace()
    t.function(1, "work")
    t.name(2, "span")
    t.fiber(1003990, 0, 2, 1, 3, 77, FOR["MUTEX"], b"customer")
    t.fiber(1003990, 1, 9, 1, 3, 78, FOR["EVENT"])
    t.fiber(1003990, 0, 1, 1, 1003930, 4, FOR["EVENT"])
    a, b = t.ring(0), t.ring(1, "OTHERS")
    for i in range(4):
        at = 1000000 + 1000 * i
        b.SPAWN(at, 9, 1, 5)
        a.TASK_BEGIN(at + 10, 1, 1, 5).SPAN_BEGIN(at + 20, 1, 2)
        a.WAIT(at + 30, 1, b=i + 1, detail=FOR["EVENT"])
        b.WAKE(at + 40, 9, target(0, 1), i + 1)
        a.RESUME(at + 50, 1, b=i + 1).SPAN_END(at + 60, 1)
        a.FIBER_NAME(at + 61, 1, 2**64 - 1, 2**64 - 1, 32)
        a.STATE(at + 62, 3, 1, 5).RESUME(at + 63, 3, 0, 9, FOR["EVENT"])
        a.TASK_END(at + 70, 1, 1).PARK(at + 80).UNPARK(at + 90)
    return t.bytes()


def outcome(command, data):
    done = subprocess.run([os.environ["SENNIT_TRACE"], *command, "-"],
                          input=data, capture_output=True, timeout=300)
    said = done.stderr.decode(errors="replace")
    check(done.returncode in (0, 1), command, "ends with", done.returncode,
          said, data.hex())
    if done.returncode or said:
        check(said.startswith("sennit-trace: ") and said.count("\n") == 1, said)
    if not done.returncode:
        if command[0] == "json":
            json.loads(done.stdout)
        elif command[0] in ("svg", "flame"):
            xml.fromstring(done.stdout)
    return done


def cut_off(data):
    events = []
    for size in range(0, len(data), 61):
        done = outcome(["json"], data[:size])
        equal(done.returncode, 1 if size < 96 else 0, "status")
        if not done.returncode:
            check(b"cut off" in done.stderr, "no word of the cut", size)
            events.append(json.loads(done.stdout)["traceEvents"][-1]["args"])
    counts = [e["events"] for e in events]
    equal(counts, sorted(counts), "events")
    check(counts[-1] > 30 and all(e["cut"] for e in events), counts)


def changed(data, seed, rounds):
    chance = random.Random(seed)
    for i in range(rounds):
        bytes_ = bytearray(data)
        for _ in range(chance.choice([1, 2, 8, 40])):
            at = chance.randrange(16, len(bytes_))
            bytes_[at] = chance.choice([0, 1, 2, 127, 128, 255,
                                        chance.randrange(256)])
        outcome(COMMANDS[i % len(COMMANDS)], bytes(bytes_))


def refused():
    data = make()
    swapped = data[:8] + data[8:12][::-1] + data[12:]
    later = data[:12] + b"\x02" + data[13:]
    for bad, word in (b"", b"not a trace"), (b"sennittr", b"ends within"), \
            (b"#!/bin/sh\n" * 40, b"not a trace"), (swapped, b"byte order"), \
            (later, b"version"):
        done = outcome(["json"], bad)
        check(done.returncode == 1 and word in done.stderr, done.stderr)


def usage():
    check(run("--help").startswith("NAME\n  sennit-trace"), "no help")
    for wrong in [], ["json"], ["draw", "x"], ["svg", "--by", "task", "x"], \
            ["summary", "-n", "0", "x"], ["summary", "-n", "-1", "x"], \
            ["--color", "json", "x"]:
        done = subprocess.run([os.environ["SENNIT_TRACE"], *wrong],
                              capture_output=True)
        equal(done.returncode, 2, wrong)
    for file in "/does/not/exist", "/":
        done = subprocess.run([os.environ["SENNIT_TRACE"], "json", file],
                              capture_output=True)
        equal(done.returncode, 1, file)
    if os.path.exists("/dev/full"):
        done = subprocess.run([os.environ["SENNIT_TRACE"], "json", "-o",
                               "/dev/full", "-"], input=make(),
                              capture_output=True)
        check(done.returncode == 1 and b"written" in done.stderr, "no word")


seed = int(os.environ.get("SENNIT_TEST_SEED", random.randrange(2**32)))
try:
    usage()
    refused()
    cut_off(make())
    changed(make(), seed, 100)
except AssertionError:
    print("SENNIT_TEST_SEED=%d" % seed, file=sys.stderr)
    raise
