#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the JSON shows has the times, tracks and names of the events."""
import struct

from trace_file import FOR, Trace, check_nesting, equal, read_json, target

OUTER, INNER, SPAN, COUNTER = 0x1000, 0x2000, 0x31, 0x32


def make(ticks=1):
    """On fiber 4: OUTER with a span, in which it waits and calls INNER."""
    t = Trace(ticks=ticks)
    t.function(OUTER, "outer")
    t.name(SPAN, "parse")
    t.name(COUNTER, "queue")
    w = t.ring(0)

    def at(ns):
        return 1000000 + ns * ticks

    w.SEARCH(at(0)).PARK(at(100)).UNPARK(at(900))
    w.TASK_BEGIN(at(1000), 4, OUTER).SPAN_BEGIN(at(2000), 4, SPAN)
    w.VALUE(at(2500), 4, COUNTER, 2**64 - 7)
    w.WAIT(at(3000), 4, b=1, detail=FOR["MUTEX"])
    w.SEARCH(at(3500)).WAKE(at(4000), 0, target(0, 4), 1)
    w.RESUME(at(5000), 4, b=1)
    w.TASK_BEGIN(at(6000), 4, INNER).TASK_END(at(6500), 4, INNER)
    w.SPAN_END(at(7000), 4).TASK_END(at(8000), 4, OUTER)
    w.STEAL(at(8500), 0, 1, 12)
    w.TASK_BEGIN(at(9000), 4, OUTER)  # still runs when the trace ends
    w.VALUE(at(10000), 4, COUNTER, 5)
    return t


def tracks(events):
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in events
            if e["ph"] == "M" and e["name"] == "thread_name"}


def slices(events):
    track = tracks(events)
    return sorted((track[e["pid"], e["tid"]], round(e["ts"] * 1000),
                   round(e["dur"] * 1000), e["cat"], e["name"])
                  for e in events if e["ph"] == "X")


WANTED = sorted([
    ("worker 0", 0, 100, "search", "search"),
    ("worker 0", 100, 800, "park", "sleep"),
    ("worker 0", 1000, 2000, "task", "outer"),
    ("worker 0", 2000, 1000, "span", "parse"),
    ("worker 0", 3500, 500, "search", "search"),
    ("worker 0", 5000, 3000, "task", "outer"),
    ("worker 0", 5000, 2000, "span", "parse"),
    ("worker 0", 6000, 500, "task", "0x2000"),
    ("worker 0", 9000, 1000, "task", "outer"),
    ("fiber 0.4", 1000, 7000, "task", "outer"),
    ("fiber 0.4", 2000, 5000, "span", "parse"),
    ("fiber 0.4", 3000, 1000, "wait", "mutex"),
    ("fiber 0.4", 4000, 1000, "ready", "ready"),
])

for ticks in 1, 3:
    events = read_json(make(ticks).bytes())
    equal(slices(events), WANTED, "slices")
    equal([(e["ts"], e["args"]["value"]) for e in events if e["ph"] == "C"],
          [(2.5, -7), (10.0, 5)], "values")
    equal([(e["name"], e["ts"], e["args"]["count"]) for e in events
           if e["ph"] == "i" and e["name"] == "steal"], [("steal", 8.5, 12)],
          "steals")

# A recording that was stopped and started again knows nothing of the time
# between.
t = Trace()
w = t.ring(0)
w.TASK_BEGIN(1000000, 4, INNER).STOP(1000100).START(1000500)
w.TASK_END(1000600, 4, INNER).TASK_BEGIN(1000700, 4, INNER)
equal([s[1:] for s in slices(read_json(t.bytes()))],
      [(0, 100, "task", "0x2000"), (600, 0, "task", "(began earlier)"),
       (700, 0, "task", "0x2000")], "slices around a stop")

# The trace of a crash has no names of functions. The maps are in several parts.
t = Trace()
t.function(0x7f0000001010, "known")
maps = b"""\
555500000000-555500001000 r--p 00000000 fe:01 12 /usr/bin/tool
555500001000-555500004000 r-xp 00000800 fe:01 12 /usr/bin/tool
7f0000000000-7f0000009000 r-xp 00000000 fe:01 13 /lib/lib one.so
7ffe00000000-7ffe00009000 rw-p 00000000 00:00 0 [stack]
"""
t.maps = [maps[:100], maps[100:]]
w = t.ring(0)
for i, function in enumerate([0x555500001234, 0x7f0000001000, 0x7f0000001010,
                              0x555500004000, 0x7ffe00000010]):
    w.TASK_BEGIN(1000000 + i, 1, function).TASK_END(1000000 + i, 1, function)
equal([s[4] for s in slices(read_json(t.bytes()))],
      ["tool+0x1234", "lib one.so+0x1000", "known", "0x555500004000",
       "0x7ffe00000010"], "names")

# A fiber that runs does not wait, though the trace has no resume.
t = Trace()
t.ring(0).TASK_BEGIN(1000000, 4, INNER).WAIT(1000100, 4, b=1).TASK_BEGIN(
    1000200, 4, OUTER).TASK_END(1000300, 4, OUTER).PARK(1000400)
events = read_json(t.bytes())
check_nesting([e for e in events if e["ph"] == "X"])
equal(("fiber 0.4", 100, 100, "ready", "yield") in slices(events), True,
      "the wait ends")

# A string longer than its section is none.
t = Trace()
t.function(0x10, "whole")
t.strings += struct.pack("=QII8s", 0x20, 1, 4000, b"partial")
t.ring(0).TASK_BEGIN(1000000, 1, 0x10).TASK_BEGIN(1000000, 1, 0x20)
equal([s[4] for s in slices(read_json(t.bytes()))], ["0x20", "whole"], "names")
