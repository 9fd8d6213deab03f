#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The summary of a trace whose counts and times are known."""
import re

from trace_file import FOR, WAKE, Trace, equal, run, target

SERVE, LOAD = 1, 2
WAITS = [(i + 1) * 1000 for i in range(100)]  # 1 us to 100 us
READY = 500


def make():
    """100 tasks `serve` wait for a mutex, each longer than the one before.
    Of their wakes 70 come from `load`, 20 from a timer, 10 from outside."""
    t = Trace(workers=1)
    t.function(SERVE, "serve")
    t.function(LOAD, "load; rm -rf\x1b")
    w, others = t.ring(0), t.ring(1, "OTHERS")
    now = 1000000
    for i, wait in enumerate(WAITS):
        w.TASK_BEGIN(now, 2, SERVE)
        w.WAIT(now + 300, 2, b=i + 1, detail=FOR["MUTEX"])
        woken = now + 300 + wait - READY
        w.TASK_BEGIN(woken - 100, 3, LOAD)
        if i < 70:
            w.WAKE(woken, 3, target(0, 2), i + 1)
        elif i < 90:
            w.WAKE(woken, 0, target(0, 2), i + 1, detail=WAKE["TIMER"])
        else:
            others.WAKE(woken, 99, target(0, 2), i + 1)
        w.TASK_END(woken + 100, 3, LOAD)
        w.RESUME(woken + READY, 2, b=i + 1)
        now = woken + READY + 700
        w.TASK_END(now, 2, SERVE)
    # One wait that never ends, for 1 ms.
    w.TASK_BEGIN(now, 2, SERVE).WAIT(now, 2, b=1000, detail=FOR["EVENT"])
    w.TASK_BEGIN(now + 1000000, 4, LOAD)
    return t


def cells(text):
    """Returns the tables' rows, by what stands in their first columns."""
    return [re.split(r"  +", line.strip()) for line in text.splitlines()]


text = run("summary", "-", data=make().bytes())
rows = cells(text)
tasks = {row[0]: row for row in rows[:6]}
equal(tasks["serve"], ["serve", "101", "100 us", "990 ns", "101", "51.0 us",
                            "100 us", "500 ns"], "serve")
# The name is escaped.
equal(tasks["load; rm -rf\\x1b"][1:5], ["101", "20.0 us", "198 ns", "0"],
      "load")
waits = {row[1]: row for row in rows if len(row) > 2 and row[0] == "serve"}
equal(waits["mutex"], ["serve", "mutex", "100", "0", "5.05 ms", "50.0 us",
                       "99.0 us", "load; rm -rf\\x1b 70, (deadline) 20, "
                       "(other thread) 10"], "waits for the mutex")
equal(waits["event"][:5], ["serve", "event", "1", "1", "1.00 ms"],
      "waits for the event")
equal(rows[0][0], "6.15 ms, 1 workers, 703 events", "the first line")
equal(len(cells(run("summary", "-n", "1", "-", data=make().bytes()))),
      len(rows), "rows, of which each table has one, and a line for the rest")
lost = Trace()
lost.ring(0, lost=123).TASK_BEGIN(1000000, 1, 1)
equal("123 older ones were overwritten" in
      run("summary", "-", data=lost.bytes(is_whole=False)), True, "the loss")

# A waiter of a mutex checks it twice: after its first wake it was locked again.
looks = Trace()
looks.function(1, "locker")
GOES_ON = 0x8000
a, b = looks.ring(0), looks.ring(1)
a.TASK_BEGIN(1000000, 1, 1, detail=1)
a.WAIT(1000000, 1, b=7, detail=FOR["MUTEX"])
a.RESUME(1100000, 1, 1000000, 7, FOR["MUTEX"])
a.WAIT(1100000, 1, b=8, detail=FOR["MUTEX"] | GOES_ON)
b.TASK_BEGIN(1000000, 1, 2, detail=1)
b.WAKE(1150000, 1, target(0, 1), 8)
a.RESUME(1200000, 1, 1000000, 8, FOR["MUTEX"])
a.WAIT(1200000, 1, b=9, detail=FOR["MUTEX"] | GOES_ON)
b.WAKE(1250000, 1, target(0, 1), 9).TASK_END(1260000, 1, 2)
a.RESUME(1300000, 1, 1000000, 9, FOR["MUTEX"]).TASK_END(1310000, 1, 1)
looks.function(2, "holder")
rows = cells(run("summary", "-", data=looks.bytes()))
equal([row[2:] for row in rows if row[:2] == ["locker", "mutex"]],
      [["1", "0", "300 us", "300 us", "300 us", "holder 1"]], "one wait")
equal([row[1:] for row in rows if row[0] == "locker" and row[1] != "mutex"],
      [["1", "10.0 us", "10.0 us", "1", "300 us", "300 us", "50.0 us"]],
      "what the locker did")
