#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each flow of the JSON goes from a mark to the slice that it belongs to; what
has only one end in the trace is no flow."""
from trace_file import FOR, NOBODY, Trace, equal, follow_flows, read_json, \
    target

FETCH, STORE, READ = 0x1000, 0x2000, 0x3000


def flows_of(trace):
    return [f for f in follow_flows(read_json(trace.bytes()))]


def names(flows):
    return sorted((name, slice) for name, _, _, slice in flows)


def make():
    t = Trace()
    t.function(FETCH, "fetch")
    t.function(STORE, "store")
    t.function(READ, "read_disk")
    return t, t.ring(0), t.ring(1), t.ring(2, "OTHERS")


def spawn_to_task():
    t, a, b, _ = make()
    a.TASK_BEGIN(1000100, 1, FETCH, 71)
    a.SPAWN(1000200, 1, STORE, 5).SPAWN(1000210, 1, STORE, 6)
    b.TASK_BEGIN(1000300, 1, STORE, 6).TASK_END(1000400, 1, STORE)
    a.TASK_END(1000500, 1, FETCH)
    # FETCH has no spawn, and the first STORE no begin.
    equal(flows_of(t), [("spawn", 0.11, 0.2, "store")], "flows")


def equal_tasks_oldest_first():
    t, a, b, _ = make()
    for i in range(3):
        a.SPAWN(1000100 + i, 1, STORE, 9)
    for i in range(3):
        b.TASK_BEGIN(1000200 + 10 * i, 1, STORE, 9)
        b.TASK_END(1000205 + 10 * i, 1, STORE)
    equal([f[1] for f in flows_of(t)], [0.0, 0.001, 0.002], "begins")
    equal([f[2] for f in flows_of(t)], [0.1, 0.11, 0.12], "ends")


def lost_begins_shift_no_flow():
    """The ring of worker 1 has lost the begins of the first two tasks."""
    t = Trace()
    t.function(STORE, "store")
    a, b = t.ring(0), t.ring(1, lost=4)
    for i in range(4):
        a.SPAWN(1000000 + 10000 * i, 1, STORE, 9)
    for i in range(2, 4):
        b.TASK_BEGIN(1001000 + 10000 * i, 1, STORE, 9)
        b.TASK_END(1002000 + 10000 * i, 1, STORE)
    # Of the third the spawn is older than all that worker 1 still has.
    equal([(f[1], f[2]) for f in flows_of(t)], [(30.0, 31.0)], "flows")


def wake_to_resume():
    t, a, b, _ = make()
    a.TASK_BEGIN(1000100, 3, FETCH, 0)
    a.WAIT(1000200, 3, a=0x99, b=41, detail=FOR["MUTEX"])
    b.TASK_BEGIN(1000100, 1, STORE, 0)
    b.WAKE(1000300, 1, target(0, 3), 41).TASK_END(1000310, 1, STORE)
    a.RESUME(1000400, 3, b=41).TASK_END(1000500, 3, FETCH)
    equal(flows_of(t), [("wake", 0.2, 0.3, "fetch")], "flows")


def clocks_that_differ():
    """The wake is recorded as before its wait, and still has its waker."""
    t, a, b, _ = make()
    b.WAKE(1000190, 0, target(0, 3), 41)
    a.TASK_BEGIN(1000100, 3, FETCH, 0)
    a.WAIT(1000200, 3, b=41, detail=FOR["EVENT"])
    a.RESUME(1000400, 3, b=41)
    equal(names(flows_of(t)), [("wake", "fetch")], "flows")
    # Here it seems to be behind the resume. No flow goes back in time.
    t, a, b, _ = make()
    b.WAKE(1000401, 0, target(0, 3), 41)
    a.TASK_BEGIN(1000100, 3, FETCH, 0)
    a.WAIT(1000200, 3, b=41, detail=FOR["EVENT"])
    a.RESUME(1000400, 3, b=41)
    a.WAIT(1000500, 3, b=42, detail=FOR["EVENT"]).RESUME(1000600, 3, b=42)
    equal(flows_of(t), [], "flows")
    t, a, b, _ = make()
    b.TASK_BEGIN(1000300, 1, STORE, 5)
    a.SPAWN(1000500, 1, STORE, 5)
    equal(flows_of(t), [], "flows")


def call_and_back():
    t, a, _, others = make()
    a.TASK_BEGIN(1000100, 3, FETCH, 0)
    a.WAIT(1000200, 3, b=77, detail=FOR["CALL"])
    others.CALL_BEGIN(1000250, 555, READ, 77).CALL_END(1000350, 555, READ, 77)
    others.WAKE(1000360, 555, target(0, 3), 77)
    a.RESUME(1000400, 3, b=77)
    equal(names(flows_of(t)), [("call", "read_disk"), ("wake", "fetch")],
          "flows")


def call_that_begins_before_its_wait_is_recorded():
    """The worker is interrupted between the two."""
    t, a, _, others = make()
    a.TASK_BEGIN(1000000, 3, FETCH, 0)
    others.CALL_BEGIN(1100000, 555, READ, 77)
    a.WAIT(1500000, 3, b=77, detail=FOR["CALL"])
    others.CALL_END(1600000, 555, READ, 77)
    equal(flows_of(t), [("call", 100.0, 100.0, "read_disk")], "flows")


def one_end_only():
    t, a, b, _ = make()
    a.RESUME(1000100, 3, b=41)  # its wait was before the trace
    b.WAKE(1000150, 0, NOBODY, 0)
    b.WAKE(1000160, 0, target(9, 9), 12)
    b.WAKE(1000170, 0, target(0, 8), 13)
    a.WAIT(1000200, 3, b=42, detail=FOR["EVENT"])
    b.WAKE(1000300, 0, target(0, 3), 42)  # the trace ends before the resume
    equal(flows_of(t), [], "flows")


spawn_to_task()
equal_tasks_oldest_first()
lost_begins_shift_no_flow()
wake_to_resume()
clocks_that_differ()
call_and_back()
call_that_begins_before_its_wait_is_recorded()
one_end_only()
