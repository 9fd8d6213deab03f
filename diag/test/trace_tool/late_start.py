#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace that starts when 3,000 fibers wait, or whose rings have overwritten
what they did, says of each what it runs and what it waits for.
$SENNIT_TRACED_LATE is late.c."""
import os
import re
import subprocess
import tempfile

from trace_file import check, equal, read_json, run

WAITERS = 1000
LEFT = WAITERS - WAITERS // 2
KINDS = {"on_event": "event", "on_semaphore": "semaphore",
         "on_channel": "channel"}


def record(workers, events, laps):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "trace")
        subprocess.run([os.environ["SENNIT_TRACED_LATE"], file, str(workers),
                        str(events), str(WAITERS), str(laps)], check=True,
                       timeout=300)
        return open(file, "rb").read()


def summary(data):
    text = run("summary", "-n", "1000", "-", data=data)
    for unknown in "(began earlier)", "0x":
        check(unknown not in text, unknown, "in\n" + text)
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    tasks = {row[0]: row for row in rows if len(row) >= 8}
    waits = {(row[0], row[1]): row for row in rows
             if len(row) >= 7 and row[1] in KINDS.values()}
    return text, tasks, waits


def check_still(waits, text):
    """The waits that have not ended: their number is exact."""
    for task, kind in KINDS.items():
        check((task, kind) in waits, task, "is missing in\n" + text)
        equal(waits[task, kind][3], str(LEFT), "still: " + task + "\n" + text)
    equal(set(waits), set(KINDS.items()), "the kinds of waits")


for workers in 1, 2, 8:
    # All that happens after the start is in the rings.
    data = record(workers, 1 << 16, 0)
    text, tasks, waits = summary(data)
    check_still(waits, text)
    # The fibers' own names, too.
    equal(sum(e["ph"] == "X" and e["cat"] == "task" and e["pid"] == 2 and
              e["name"] == "customer (on_event)" for e in read_json(data)),
          WAITERS, "fibers with a name")
    for task, kind in KINDS.items():
        equal(waits[task, kind][2], str(WAITERS), "waits: " + task)
        equal(waits[task, kind][7] if len(waits[task, kind]) > 7 else "",
              "wake_half %d" % (WAITERS // 2), "the waker of " + task)
    # Rings of 256 events go round while fibers are woken, or before that.
    for laps in 0, 20000:
        text, tasks, waits = summary(record(workers, 256, laps))
        check("older ones were overwritten" in text, "nothing is lost")
        check_still(waits, text)
