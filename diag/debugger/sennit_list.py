# SPDX-License-Identifier: Apache-2.0
"""The list of fibers: all or some of them, one by one or merged by stack.

    state=STATE       runs, ready or blocked
    task=NAME         the task's name or its function; * and ? as in a shell
    wait=WHAT         a part of what it waits for: mutex, channel, 0x55d0...
    scheduler=NAME
    -merged           one entry for all fibers with equal task, wait and stack
    -folded           one line for each such entry, for flame graphs
    -json             the same as one JSON object, as sennit/stacks.h says
    -library          in these three: with the library's frames
"""

import fnmatch
import json
import shlex

import sennit_holders
import sennit_where
from sennit_descriptor import Fault
from sennit_fibers import escaped

FIRST_ROWS = 200  # set the widths of the columns
FILTERS = ("state", "task", "wait", "scheduler")
FORMS = ("-merged", "-folded", "-json")
TITLES = ("", "N", "fiber", "thread", "state", "task", "waits for", "for",
          "where")


class Request:
    """The options that the arguments of the command select."""

    def __init__(self, text):
        self.wanted = {}
        self.form = "-table"
        self.with_library = False
        try:
            words = shlex.split(text or "")
        except ValueError as problem:
            raise Fault("fibers: %s" % problem) from None
        for word in words:
            name, is_filter, value = word.partition("=")
            if is_filter and name in FILTERS:
                self.wanted[name] = value
            elif word in FORMS:
                self.form = word
            elif word == "-library":
                self.with_library = True
            else:
                raise Fault("fibers: what is %s? There are %s= and %s" % (
                    word, "=, ".join(FILTERS),
                    ", ".join(FORMS + ("-library",))))
        if self.wanted.get("state", "runs") not in ("runs", "ready",
                                                     "blocked"):
            raise Fault("fibers: a state is runs, ready or blocked")

    def takes(self, process, f):
        wanted = self.wanted
        if not wanted:
            return True
        if "state" in wanted and f.state != wanted["state"]:
            return False
        if "scheduler" in wanted and f.worker.scheduler != wanted["scheduler"]:
            return False
        if "wait" in wanted and wanted["wait"] not in process.wait_of(f):
            return False
        if "task" not in wanted:
            return True
        names = [f.name.decode("utf-8", "replace"),
                 process.names.get(f.task, b"").decode("utf-8", "replace")]
        if f.task:
            names.append(process.function(f.task) or "")
        return any(name and fnmatch.fnmatchcase(name, wanted["task"])
                   for name in names)

    def fibers(self, process):
        return (f for f in process.fibers() if self.takes(process, f))

    def lines(self, process, stacks, selected=0):
        """The lines of the output."""
        if self.form == "-table":
            return table(process, stacks, self.fibers(process), selected)
        groups = merge(process, stacks, self.fibers(process),
                       self.with_library)
        if self.form == "-folded":
            return folded(process, groups)
        if self.form == "-json":
            return as_json(process, groups)
        return merged(process, groups)


def seconds(ns):
    return "%.3f s" % (ns / 1e9)


# --- one by one -------------------------------------------------------------

def row(process, stacks, f, selected):
    return ("*" if f.address == selected else "", "%d" % f.number, f.label(),
            "%d" % f.worker.tid, f.state, process.task_of(f),
            process.wait_of(f), seconds(process.age(f)), stacks.where(f))


def table(process, stacks, fibers, selected):
    for name, capacity in process.schedulers:
        yield "scheduler %s: up to %d workers" % (name, capacity)
    shown = set()
    rows = [TITLES]
    widths = None
    for f in fibers:
        shown.add(f.address)
        rows.append(row(process, stacks, f, selected))
        if widths or len(rows) == FIRST_ROWS:
            widths = fit(rows, widths)
            yield from aligned(rows, widths)
            rows.clear()
    yield from aligned(rows, fit(rows, widths))
    yield from sennit_holders.Holders(process).lines(shown)
    yield from process.notes()


def fit(rows, widths):
    """The widths of the columns. Later rows may be wider."""
    lengths = [[len(cell) for cell in row] for row in rows]
    return [max(column) for column in zip(*lengths,
                                          widths or [0] * len(TITLES))]


def aligned(rows, widths):
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths))
        yield "  ".join(cells).rstrip()


# --- merged -----------------------------------------------------------------

class Group:
    """Fibers that do the same at the same place. Names that tasks have given
    themselves differ, and do not count."""

    def __init__(self, process, f, stack):
        self.task = process.task_of(f, is_one=False)
        self.function = process.function(f.task) if f.task else None
        self.state = f.state
        self.wait = process.kind_of(f)
        self.site = process.site_of(f)
        self.stack = stack
        self.count = 0
        self.waited = 0  # all together
        self.longest = -1
        self.first = f   # the fiber that has waited longest
        self.objects = set()

    def add(self, process, f):
        age = process.age(f)
        self.count += 1
        self.waited += age
        self.objects.add(f.object)
        if age > self.longest:
            self.longest, self.first = age, f


class Stack:
    """The functions of the calls that are shown."""

    def __init__(self, process, f, calls, with_library):
        place, functions = sennit_where.functions_of(process, f, calls)
        self.calls = calls  # so that no other has its id()
        self.public = place.public
        self.functions = [f for f in functions
                          if with_library or not f.is_library]
        self.is_cut = len(calls) >= sennit_where.MOST_FRAMES
        self.fault = None
        self.key = (self.public,) + tuple((f.pc, f.name)
                                          for f in self.functions)


def stack_of(process, stacks, f, with_library):
    try:
        calls = stacks.calls(f)
    except Fault as fault:
        stack = Stack(process, f, (), with_library)
        stack.fault = str(fault)
        stack.key = None
        return stack
    key = id(calls), f.task
    if key not in stacks.shown:
        stacks.shown[key] = Stack(process, f, calls, with_library)
    return stacks.shown[key]


def merge(process, stacks, fibers, with_library):
    """The groups, the largest first."""
    groups = {}
    for f in fibers:
        stack = stack_of(process, stacks, f, with_library)
        key = (stack.key, f.task, f.site, f.state, f.kind)
        if key not in groups:
            groups[key] = Group(process, f, stack)
        groups[key].add(process, f)
    return sorted(groups.values(), key=lambda g: (-g.count, -g.longest))


def merged(process, groups):
    yield "%d fibers, %d different stacks" % (sum(g.count for g in groups),
                                              len(groups))
    for g in groups:
        wait = ", waits for " + g.wait if g.wait else ""
        if g.stack.public:
            wait += " in " + g.stack.public
        yield ""
        yield "%d %s: %s: %s%s, longest %s (fiber %d)" % (
            g.count, "fiber" if g.count == 1 else "fibers", g.task, g.state,
            wait, seconds(g.longest), g.first.number)
        if g.site:
            yield "  spawned at " + g.site
        if g.stack.fault:
            yield "  (%s)" % g.stack.fault
        for f in g.stack.functions:
            yield "  #%-2d %#018x %s%s" % (f.number, f.pc, f.name,
                                           " at " + f.line if f.line else "")
        if g.stack.is_cut:
            yield "  (cut here: the stack has more frames)"
    yield from process.notes()


def folded(process, groups):
    for g in groups:
        names = [f.name for f in reversed(g.stack.functions)]
        if g.stack.public and g.stack.public not in names:
            names.append(g.stack.public)
        if g.function not in names:
            names.insert(0, g.function or g.task)
        if g.wait:
            names.append("(%s)" % g.wait)
        yield "%s %d" % (";".join(n.replace(";", ":") for n in names), g.count)
    yield from ("# " + note for note in process.notes())


def as_json(process, groups):
    """SENNIT_STACKS_MERGED_JSON of sennit/stacks.h, with more members."""
    yield json.dumps({
        "format": "sennit-merged-stacks", "version": 1,
        "time_ns": process.now, "fibers": sum(g.count for g in groups),
        "left_out": 0, "groups": [group_as_json(process, g) for g in groups],
        "damages": process.faults,
        "names_missing": None, "error": None})


def group_as_json(process, g):
    f, stack = g.first, g.stack
    is_known = g.wait and len(g.objects) == 1 and f.object
    return {
        "count": g.count,
        "state": "running" if g.state == "runs" else g.state,
        "task": g.function, "spawned_at": site_as_json(process, f.site),
        "waits_for": g.wait or None,
        "object": "%#x" % f.object if is_known else None,
        "call": stack.public or None,
        "waited_ns": g.waited if g.state == "blocked" else 0,
        "longest_ns": g.longest,
        "longest": {
            "scheduler": f.worker.scheduler,
            "worker": None if f.worker.is_bound else int(f.worker.label),
            "thread": f.worker.tid, "fiber": f.id, "since_ns": f.since,
            "name": escaped(f.name) if f.name else None, "number": f.number},
        "stack": stack.fault or ("suspended" if f.thread is None
                                 else "sampled"),
        "rest": "deeper" if stack.is_cut else "none",
        "frames": [frame_as_json(function) for function in stack.functions]}


def site_as_json(process, site):
    if not site:
        return None
    file, _, line = process.target.line(site - 1).rpartition(":")
    return {"address": "%#x" % site, "symbol": process.function(site - 1),
            "file": file or None, "line": int(line) if file else None}


def frame_as_json(f):
    file, _, line = f.line.rpartition(":")
    return {"address": "%#x" % f.pc, "symbol": f.name, "file": file or None,
            "line": int(line) if file else None, "library": f.is_library}
