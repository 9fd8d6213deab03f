#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes files as core/include/sennit/trace_format.h describes them, and runs
sennit-trace, which $SENNIT_TRACE names, on them."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

FORMAT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../../core/include/sennit/trace_format.h")
REPORT = os.path.join(os.path.dirname(FORMAT), "report.h")


def constants(path, prefix):
    """The numbers of a header, so that the tests follow it."""
    text = open(path).read()
    return {name: int(number) for name, number in
            re.findall(r"^\s*%s(\w+) = (\d+)" % prefix, text, re.M)}


KIND = constants(FORMAT, "SENNIT_TRACED_")
RING = constants(FORMAT, "SENNIT_TRACE_RING_")
SECTION = constants(FORMAT, "SENNIT_TRACE_SECTION_")
STRING = constants(FORMAT, "SENNIT_TRACE_STRING_")
WAKE = constants(FORMAT, "SENNIT_TRACE_WAKE_")
FOR = constants(REPORT, "SENNIT_WAITS_FOR_")
NOBODY = 2**64 - 1


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


def equal(got, wanted, what):
    check(got == wanted, what, "is", repr(got), "not", repr(wanted))


def target(ring, fiber):
    return ring << 32 | fiber


class Ring:
    """Its methods add an event of the kind that they are called by:
    ring.TASK_BEGIN(time, fiber, a=..., b=..., detail=...)"""

    def __init__(self, number, kind, lost=0, thread=0):
        self.head = (number, kind, thread, lost)
        self.events = []

    def __getattr__(self, name):
        kind = KIND[name]

        def add(time, fiber=0, a=0, b=0, detail=0):
            self.events.append((time, fiber, kind, detail, a, b))
            return self
        return add

    def contents(self):
        number, kind, thread, lost = self.head
        out = struct.pack("=4I3Q", number, kind, thread, 0,
                          lost + len(self.events), lost, len(self.events))
        for time, fiber, kind, detail, a, b in self.events:
            out += struct.pack("=QIHHQQ", time, fiber, kind, detail, a, b)
        return out


class Trace:
    def __init__(self, workers=2, ticks=1, start=1000000):
        self.workers, self.ticks, self.start = workers, ticks, start
        self.rings, self.strings, self.maps = [], b"", []
        self.fibers = b""

    def ring(self, number, kind="WORKER", lost=0, thread=0):
        self.rings.append(Ring(number, RING[kind], lost, thread))
        return self.rings[-1]

    def string(self, kind, key, text):
        text = text if isinstance(text, bytes) else text.encode()
        self.strings += struct.pack("=QII", key, STRING[kind], len(text))
        self.strings += text + bytes(-len(text) % 8)

    def fiber(self, time, ring, fiber, task, since=0, flow=0, waits_for=0,
              name=b""):
        """A fiber of the list: it waits, or it runs."""
        self.fibers += struct.pack("=QIIQQQQII32s", time, ring, fiber, task, 0,
                                   since, flow, waits_for, 2 if flow else 0,
                                   name)

    def function(self, key, text):
        self.string("FUNCTION", key, text)

    def name(self, key, text):
        self.string("NAME", key, text)

    def bytes(self, is_whole=True):
        head = struct.pack("=8s8I5Q16s", b"sennittr", 0x01020304, 1, 96,
                           32, 4711, 2, self.workers, 0, self.start, 7,
                           self.start + 1000 * self.ticks, 1007, 0, b"test")
        out = head
        sections = [(SECTION["RING"], r.contents()) for r in self.rings]
        sections.append((SECTION["FIBERS"], self.fibers))
        sections.append((SECTION["STRINGS"], self.strings))
        sections += [(SECTION["MAPS"], part) for part in self.maps]
        for kind, contents in sections:
            out += struct.pack("=IIQ", kind, 0, len(contents))
            out += contents + bytes(-len(contents) % 8)
        if is_whole:
            out += struct.pack("=IIQ", SECTION["END"], 0, 0)
        return out


def run(*arguments, data=b"", status=0):
    """Runs sennit-trace; data is its standard input. Returns its output."""
    done = subprocess.run([os.environ["SENNIT_TRACE"], *arguments],
                          input=data, capture_output=True, timeout=300)
    check(done.returncode == status, arguments, "ends with", done.returncode,
          done.stderr.decode(errors="replace"))
    return done.stdout.decode() if arguments[0] != "perfetto" else done.stdout


def read_json(data):
    """Returns the events of the JSON output."""
    return json.loads(run("json", "-", data=data))["traceEvents"]


def check_nesting(slices):
    """Of two slices of a track one contains the other or they are apart."""
    tracks = {}
    for s in slices:
        tracks.setdefault((s["pid"], s["tid"]), []).append(
            (round(s["ts"] * 1000), -round(s["dur"] * 1000)))
    for track, spans in tracks.items():
        ends = []
        for begin, length in sorted(spans):
            while ends and ends[-1] <= begin:
                ends.pop()
            check(not ends or begin - length <= ends[-1], track, begin)
            ends.append(begin - length)


def follow_flows(events):
    """Checks that each flow begins in one mark and ends where one slice
    begins, not before. Returns [(name of the flow, begin, end, slice)]."""
    slices = [e for e in events if e["ph"] == "X"]
    check_nesting(slices)
    begins = {(s["pid"], s["tid"], s["ts"]): s for s in slices}
    marks = {(e["pid"], e["tid"], e["ts"], e["name"])
             for e in events if e["ph"] == "i"}
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    equal(len(starts), sum(e["ph"] == "s" for e in events), "begins of flows")
    equal(len(ends), sum(e["ph"] == "f" for e in events), "ends of flows")
    equal(set(starts), set(ends), "flows with an end")
    out = []
    for number, s in sorted(starts.items()):
        e = ends[number]
        check((s["pid"], s["tid"], s["ts"], s["name"]) in marks, s)
        at = begins.get((e["pid"], e["tid"], e["ts"]))
        check(at, "no slice where a flow ends:", e)
        check(s["ts"] <= e["ts"], "back in time:", s, e)
        out.append((s["name"], s["ts"], e["ts"], at["name"]))
    return out


def in_folder(test):
    with tempfile.TemporaryDirectory() as folder:
        test(folder)
