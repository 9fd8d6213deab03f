#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program did is in its trace: $SENNIT_TRACED is real.c."""
import collections
import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as xml

from trace_file import check, equal, follow_flows, read_json, run

PAIRS, CALLS = 50, 10


def record():
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "trace")
        subprocess.run([os.environ["SENNIT_TRACED"], file], check=True,
                       timeout=300)
        return open(file, "rb").read()


data = record()
events = read_json(data)
flows = follow_flows(events)
kinds = collections.Counter((name, slice) for name, _, _, slice in flows)
# A span that begins at the same time as its task's slice may stand for it.
kinds["spawn", "send"] += kinds["spawn", "send a number"]
for task, count in ("send", PAIRS), ("receive", PAIRS), ("call", CALLS):
    equal(kinds["spawn", task], count, "spawns of " + task)
equal(sum(n for (name, _), n in kinds.items() if name == "call"), CALLS,
      "flows of calls")
# After the call the fiber takes a name, which its running slice has then.
equal(kinds["wake", "has called (call)"], 2 * CALLS, "wakes of calls and sleeps")
equal(sum(e["ph"] == "X" and e["cat"] == "call" and e["pid"] == 2
          for e in events), CALLS, "calls that fibers wait for")
equal(sorted(e["args"]["value"] for e in events if e["ph"] == "C"),
      list(range(PAIRS)), "values")
equal({e["name"] for e in events if e["ph"] == "C"}, {"sent"}, "counters")

text = run("summary", "-", data=data)
rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
for task, count in ("send", PAIRS), ("receive", PAIRS), ("call", CALLS):
    equal([row[1] for row in rows if row[0] == task][0], str(count), task)
channel = [row for row in rows if len(row) > 7 and row[1] == "channel"]
# One side of each pair waits, and the other one wakes it.
equal(sum(int(row[2]) for row in channel), PAIRS, "waits for the channel")
for row in channel:
    other = {"send": "receive", "receive": "send"}[row[0]]
    equal(row[7], "%s %s" % (other, row[2]), "the waker")
for what, waker in ("sleep", "(deadline)"), ("blocking call", "(the call's end)"):
    equal([row[7] for row in rows if len(row) > 7 and row[1] == what],
          ["%s %d" % (waker, CALLS)], what)

for line in run("flame", "--folded", "-", data=data).splitlines():
    check(re.fullmatch(r"[^ ;]+(;[^ ;]+)+ \d+", line), line)
for arguments in ["svg"], ["svg", "--by", "fiber"], ["flame"]:
    xml.fromstring(run(*arguments, "-", data=data))
