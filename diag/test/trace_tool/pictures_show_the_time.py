#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures are well-formed and draw each state for as long as it lasted,
and the folded stacks have every nanosecond that fibers wait."""
import re
import xml.etree.ElementTree as xml

from trace_file import FOR, Trace, check, equal, run, target

PITCH, BAR, COLUMNS = 22, 18, 960
COLOURS = {"runs": "#1f9d8a", "ready": "#f5b01a", "call": "#7b6fc4",
           "waits": "#c8d3df", "searches": "#d64f5f", "sleeps": "#dfe4ea"}
SVG = "{http://www.w3.org/2000/svg}"


def make():
    """A worker of 1 ms: 25 % searches, 25 % sleeps, 50 % fiber 3, which runs
    200 us, waits 100 us, is ready 50 us, runs 150 us."""
    t = Trace(workers=1)
    t.function(1, "a<b>&\"c\"")
    t.function(2, "reads")
    t.name(1, "in; a span")
    w, others = t.ring(0), t.ring(1, "OTHERS")
    w.SEARCH(1000000).PARK(1250000).UNPARK(1500000)
    w.TASK_BEGIN(1500000, 3, 1).FIBER_NAME(
        1500000, 3, int.from_bytes(b"mine", "little"))
    w.SPAN_BEGIN(1600000, 3, 1)
    w.WAIT(1700000, 3, b=1, detail=FOR["CALL"])
    others.CALL_BEGIN(1710000, 88, 2, 1).CALL_END(1790000, 88, 2, 1)
    others.WAKE(1800000, 88, target(0, 3), 1)
    w.RESUME(1850000, 3, b=1).SPAN_END(1900000, 3).TASK_END(2000000, 3, 1)
    return t.bytes()


def areas(path):
    """The area of the boxes of a path, in columns of full height."""
    return sum(int(width) * float(height) for width, height in
               re.findall(r"h(\d+)v([\d.]+)h-", path.get("d"))) / BAR


def row_areas(text):
    """Returns for each row its name and its states' shares of the time."""
    root = xml.fromstring(text)
    rows = []
    for e in root.iter():
        if e.tag == SVG + "text" and e.get("class") == "e":
            rows.append([e.text, {}])
        elif e.tag == SVG + "path" and rows:
            rows[-1][1].update({e.get("fill"): areas(e) / COLUMNS})
    return {name: shares for name, shares in rows if shares}


def near(got, wanted, what):
    equal(set(got), {COLOURS[state] for state in wanted}, what)
    for state, share in wanted.items():
        check(abs(got[COLOURS[state]] - share) < 0.005, what, state, got)


data = make()
rows = row_areas(run("svg", "-", data=data))
near(rows["worker 0"], {"searches": .25, "sleeps": .25, "runs": .35}, "worker")
near(rows["thread 88"], {"runs": .08}, "thread")
rows = row_areas(run("svg", "--by", "fiber", "-", data=data))
near(rows["fiber 0.3"], {"runs": .35, "call": .1, "ready": .05}, "fiber")
equal(list(row_areas(run("svg", "-n", "1", "-", data=data))), ["worker 0"],
      "rows of one")

# The boxes that name tasks, of one row: name, begin and width as shares.
def named(text):
    return [(e.find(SVG + "title").text, (int(e.get("x")) - 170) / COLUMNS,
             int(e.get("width")) / COLUMNS)
            for e in xml.fromstring(text).iter(SVG + "rect")
            if e.get("class") == "n"]


equal(named(run("svg", "-n", "1", "-", data=data)),
      [('mine (a<b>&"c")', .5, .2), ('mine (a<b>&"c")', .85, .15)], "names")
text = run("svg", "-n", "1", "-", data=data)
equal([e.text for e in xml.fromstring(text).iter(SVG + "text")
       if e.get("class") == "t"], ['mine (a<b>&"c")'] * 2, "labels")
# The task with most of the time, not the last or the first one.
t = Trace(workers=1)
t.function(1, "short")
t.function(2, "long")
w = t.ring(0)
w.SEARCH(1000)
for i in range(3000):
    at = 1000 + i * 1000
    w.TASK_BEGIN(at, 2, 1).TASK_END(at + 300, 2, 1)
    w.TASK_BEGIN(at + 300, 3, 2).TASK_END(at + 900, 3, 2)
equal([name for name, _, _ in
       named(run("svg", "-n", "1", "-", data=t.bytes()))], ["long"], "most")

folded = run("flame", "--folded", "-", data=data)
equal(folded, 'a<b>&"c";in\\x3b_a_span;blocking_call 150000\n', "folded")
flame = xml.fromstring(run("flame", "-", data=data))
titles = [e.text for e in flame.iter(SVG + "title")]
equal(titles, ["Where fibers wait", 'a<b>&"c": 150 us, 100.0 %',
               "in; a span: 150 us, 100.0 %",
               "blocking call: 150 us, 100.0 %, 1 waits"], "titles")
# Folded stacks of a profile, of which some lines are equal.
stacks = "load;parse <x>;read 600\nload;parse <x>;read 200\nload 200\n"
flame = xml.fromstring(run("flame", "-", data=stacks.encode()))
titles = [e.text for e in flame.iter(SVG + "title")]
equal(titles, ["Folded stacks", "load: 1.00 us, 100.0 %, 1 stacks",
               "parse <x>: 800 ns, 80.0 %", "read: 800 ns, 80.0 %, 2 stacks"],
      "folded stacks")
boxes = [(e.find(SVG + "title").text.split(":")[0],
          float(e.find(SVG + "rect").get("width")))
         for e in flame.iter(SVG + "g")]
check(abs(dict(boxes)["read"] / dict(boxes)["load"] - .8) < .001, boxes)
for wrong in "no number\n", "load -5\n", "5\n", "load x5\n":
    run("flame", "-", data=wrong.encode(), status=1)
run("summary", "-", data=stacks.encode(), status=1)

# The task's own name is on the timeline.
check('"mine (a<b>&\\"c\\")"' in run("json", "-", data=data), "no own name")
for command in ["svg"], ["svg", "--by", "fiber"], ["flame"]:
    xml.fromstring(run(*command, "-", data=Trace().bytes()))
