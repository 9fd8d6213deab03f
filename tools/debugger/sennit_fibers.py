# SPDX-License-Identifier: Apache-2.0
"""Finds the fibers of a process or a core file by sennit_debug_descriptor.

sennit_gdb.py and sennit_lldb.py are the front ends. A front end passes a
"target" with these methods:

    read(address, size)   bytes; raises Unreadable
    symbol(name)          the address of a symbol, or None
    function(address)     the name of a function, or None
    threads()             (handle, system's number, stack pointer) of each
    now()                 CLOCK_MONOTONIC of the process in ns, or None

Nothing is trusted: each pointer may be wild and each list may be broken. A
walk ends at the first fault of a list, which is kept in `faults`, and goes on
with the next list.
"""

import struct

from sennit_descriptor import (  # noqa: F401, of which front ends use some
    PC_AND_SP, REGISTERS, Context, Fault, Memory, Record, Unreadable,
    read_descriptor)

MOST_SCHEDULERS = 4096
MOST_WORKERS = 1024
MOST_BOUND = 1 << 16
MOST_FIBERS = 1 << 24
WAITS_FOR_IO = 19  # its object is a number
STATES = ("runs", "ready", "blocked", "?")


def escaped(text):
    """Bytes of the program as text that changes no terminal."""
    out = []
    for c in text.decode("utf-8", "surrogateescape"):
        if c == "\\":
            out.append("\\\\")
        elif c.isprintable():
            out.append(c)
        else:
            data = c.encode("utf-8", "surrogateescape")
            out.append("".join("\\x%02x" % b for b in data))
    return "".join(out)


class Fiber:
    """One fiber, as the last walk saw it."""

    def __init__(self):
        self.number = 0        # ours: stays with the record
        self.address = 0
        self.worker = None
        self.id = 0
        self.state = "?"
        self.task = 0
        self.name = b""        # that the task has given itself, or its function
        self.wait = ""
        self.since = 0
        self.is_running = False
        self.low = 0
        self.saved = 0
        self.thread = None     # the handle of the thread that is on its stack

    def label(self):
        return "%s.%d" % (self.worker.label, self.id)


class Worker:
    def __init__(self, record, address, d, scheduler):
        self.address = address
        self.scheduler = scheduler
        index = record.get("I", d.worker_index_at)
        self.tid = record.get("I", d.worker_thread_at)
        self.current = record.get("Q", d.worker_current_at)
        self.clock = record.get("Q", d.worker_clock_at)
        self.fibers = record.get("Q", d.worker_fibers_at)
        self.is_bound = index == 0xffffffff
        self.label = "b%d" % self.tid if self.is_bound else "%d" % index
        self.thread = None  # its handle, if the target has it

    def title(self):
        if self.is_bound:
            return "%s, bound thread %d" % (self.scheduler, self.tid)
        return "%s, worker %s" % (self.scheduler, self.label)


class Process:
    """All schedulers, workers and fibers, read once."""

    def __init__(self, target, numbers):
        self.target = target
        self.memory = Memory(target)
        self.numbers = numbers
        self.faults = []
        self.fibers = []
        self.schedulers = []
        self.workers = []
        self.newest = 0
        self.names = {}
        self.d = read_descriptor(self.memory)
        self.context = Context(self.memory, self.d.context)
        self._read_tables()
        self._walk()
        self._find_threads()
        self.fibers = [f for f in self.fibers if self._is_alive(f)]
        for f in self.fibers:
            f.number = self.numbers.setdefault(f.address,
                                               len(self.numbers) + 1)
        self.now = target.now()
        self.clock_is_live = self.now is not None and self.now >= self.newest
        if not self.clock_is_live:
            self.now = self.newest

    # --- tables ---------------------------------------------------------

    def _read_tables(self):
        d = self.d
        try:
            if d.task_names_count > 1 << 20 or d.waits_count > 256:
                raise Fault("sennit: the descriptor's tables are too large")
            data = self.memory.read(d.task_names, 16 * d.task_names_count,
                                    "table of task names")
            for function, name in struct.iter_unpack("<QQ", data):
                if function and name:
                    self.names[function] = self.memory.string(name)
        except Fault as fault:
            self.faults.append(str(fault))
        self.waits = []
        try:
            data = self.memory.read(d.waits, 8 * d.waits_count,
                                    "names of waits")
            for (name,) in struct.iter_unpack("<Q", data):
                self.waits.append(escaped(self.memory.string(name)))
        except Fault as fault:
            self.faults.append(str(fault))

    # --- lists ----------------------------------------------------------

    def _list(self, first, most, what):
        """The links of a circular list, as far as it is sound."""
        seen = set()
        link = first
        try:
            while link:
                seen.add(link)
                after = self.memory.pointer(link, what)
                yield link
                if after == first:
                    return
                if after in seen or len(seen) >= most:
                    raise Fault("%s: the list is broken after %d members, at "
                                "%#x" % (what, len(seen), link))
                if not after:
                    raise Fault("%s: the list ends at %#x" % (what, link))
                link = after
        except Fault as fault:
            self.faults.append(str(fault))

    def _walk(self):
        d = self.d
        first = self.memory.pointer(d.schedulers, "list of schedulers")
        for link in self._list(first, MOST_SCHEDULERS, "list of schedulers"):
            try:
                self._scheduler(link - d.scheduler_link_at)
            except Fault as fault:
                self.faults.append(str(fault))

    def _scheduler(self, s):
        d, m = self.d, self.memory
        name = escaped(m.string(s + d.scheduler_name_at,
                                d.scheduler_name_size)) or "sennit"
        what = "scheduler %s" % name
        workers = m.pointer(s + d.scheduler_workers_at, what)
        capacity, = struct.unpack("<I", m.read(
            s + d.scheduler_capacity_at, 4, what))
        if capacity > MOST_WORKERS:
            raise Fault("%s: %d workers" % (what, capacity))
        self.schedulers.append((name, capacity))
        data = m.read(workers, 8 * capacity, what) if capacity else b""
        for i, (w,) in enumerate(struct.iter_unpack("<Q", data)):
            if w:
                self._try_worker(w, name, "%s, worker %d" % (what, i), i)
        bound = m.pointer(s + d.scheduler_bound_at, what)
        for link in self._list(bound, MOST_BOUND, what + ", bound threads"):
            w = link - d.worker_bound_at
            self._try_worker(w, name, "%s, bound thread" % what, 0xffffffff)

    def _try_worker(self, w, scheduler, what, index):
        try:
            self._worker(w, scheduler, what, index)
        except Fault as fault:
            self.faults.append(str(fault))

    def _worker(self, address, scheduler, what, index):
        d = self.d
        if d.worker_size > 1 << 16 or d.fiber_size > 1 << 16:
            raise Fault("sennit: the descriptor's sizes are too large")
        record = Record(self.memory.read(address, d.worker_size, what), what)
        if record.get("I", d.worker_index_at) != index:
            raise Fault("%s: what stands at %#x is no worker"
                        % (what, address))
        w = Worker(record, address, d, scheduler)
        self.newest = max(self.newest, w.clock)
        self.workers.append(w)
        if w.is_bound:
            self._fiber(w, address + d.worker_main_at, what)
        for link in self._list(w.fibers, MOST_FIBERS, what + ", fibers"):
            self._fiber(w, link - d.fiber_link_at, what)

    def _fiber(self, w, address, what):
        d = self.d
        what = "%s, fiber at %#x" % (what, address)
        r = Record(self.memory.read(address, d.fiber_size, what), what)
        if r.get("Q", d.fiber_worker_at) != w.address:
            raise Fault("%s: it does not belong to the worker" % what)
        f = Fiber()
        f.worker, f.address = w, address
        f.id = r.get("I", d.fiber_id_at)
        f.low = r.get("Q", d.fiber_low_at)
        f.saved = r.get("Q", d.fiber_context_at)
        f.task = r.get("Q", d.fiber_task_at)
        doing = r.get("I", d.fiber_doing_at)
        state = doing & d.doing_state
        f.state = STATES[min(state, 3)]
        f.is_running = state == 0
        if state:
            f.since = r.get("Q", d.fiber_since_at)
            f.wait = self._wait(f, r, doing)
        else:
            f.since = w.clock
        f.name = self.names.get(f.task, b"")
        if r.get("I", d.fiber_name_version_at) % 2 == 0:
            own = r.data[d.fiber_name_at:d.fiber_name_at + d.fiber_name_size]
            f.name = own.split(b"\0")[0] or f.name
        self.fibers.append(f)

    def _wait(self, f, r, doing):
        d = self.d
        kind = (doing & d.doing_kind) >> d.doing_kind_shift
        if not kind:
            return ""
        thing = r.get("Q", d.fiber_object_at)
        text = self.waits[kind] if kind < len(self.waits) else "kind %d" % kind
        if kind == WAITS_FOR_IO:
            text += " %d" % (thing & 0xffffffff)
        elif thing:
            text += " %#x" % thing
        if doing & d.doing_timed:
            f.deadline = r.get("Q", d.fiber_deadline_at)
        return text

    # --- threads --------------------------------------------------------

    def _find_threads(self):
        """A thread belongs to the fiber on whose stack it is. The record at
        worker_current_at changes some instructions before the stack does."""
        threads = list(self.target.threads())
        by_tid = dict((tid, handle) for handle, tid, _ in threads)
        for w in self.workers:
            w.thread = by_tid.get(w.tid)
        stacks = sorted((f.low, f.address, f) for f in self.fibers if f.low)
        on_stack = {}
        for handle, _, sp in threads:
            for f in self._stacks_at(stacks, sp):
                f.thread = handle
                f.worker.thread = handle
                on_stack[f.worker.address] = f
        for f in self.fibers:
            w = f.worker
            if w.current == f.address and w.address not in on_stack:
                f.thread = w.thread

    @staticmethod
    def _stacks_at(stacks, sp):
        low, high = 0, len(stacks)
        while low < high:
            middle = (low + high) // 2
            if stacks[middle][0] <= sp:
                low = middle + 1
            else:
                high = middle
        if low and stacks[low - 1][0] <= sp < stacks[low - 1][1]:
            yield stacks[low - 1][2]

    def _is_alive(self, f):
        """An idle stack is no fiber. A thread's own stack is one."""
        return bool(f.task or not f.is_running or not f.low)

    # --- for front ends -------------------------------------------------

    def registers(self, f):
        """The registers of a fiber that no thread is on."""
        if f.low and not f.low <= f.saved < f.address:
            raise Fault("fiber %d: its saved stack pointer %#x is not on its "
                        "stack" % (f.number, f.saved))
        if not f.saved:
            raise Fault("fiber %d: it has no saved registers" % f.number)
        return self.context.read(self.memory, f.saved)

    def task_of(self, f):
        """The task as reports show it."""
        function = "its own stack"
        if f.task:
            function = self.target.function(f.task) or "%#x" % f.task
        if f.name:
            return "%s (%s)" % (escaped(f.name), function)
        return function

    def age(self, f):
        if self.now < f.since:
            return "0.000 s"
        return "%.3f s" % ((self.now - f.since) / 1e9)

    def find(self, text):
        """The fiber with this number, worker.fiber or address."""
        found = [f for f in self.fibers if text in
                 ("%d" % f.number, f.label(), "%#x" % f.address)]
        if len(found) > 1:
            raise Fault("several fibers are %s: use their numbers, %s" % (
                text, ", ".join("%d" % f.number for f in found)))
        if not found:
            raise Fault("no fiber is %s: see the first columns of the list"
                        % text)
        return found[0]

    def select(self, words):
        """The fibers that these words name, or all of them."""
        if words == ["all"]:
            return self.fibers
        return [self.find(word) for word in words]

    def title(self, f):
        text = "fiber %d (%s, fiber %d): %s: %s" % (
            f.number, f.worker.title(), f.id, self.task_of(f), f.state)
        return text + (", %s" % f.wait if f.wait else "")

    def table(self, where, selected=0):
        """The lines of the list. where(f) is the function it is in."""
        rows = [("", "N", "fiber", "thread", "state", "task", "waits for",
                 "for", "where")]
        for f in self.fibers:
            rows.append(("*" if f.address == selected else "",
                         "%d" % f.number, f.label(), "%d" % f.worker.tid,
                         f.state, self.task_of(f),
                         f.wait if f.state == "blocked" else "",
                         self.age(f), where(f)))
        widths = [max(map(len, column)) for column in zip(*rows)]
        for name, capacity in self.schedulers:
            yield "scheduler %s: up to %d workers" % (name, capacity)
        for row in rows:
            cells = (c.ljust(n) for c, n in zip(row, widths))
            yield "  ".join(cells).rstrip()
        if not self.clock_is_live:
            yield ("(times up to the last reading of a worker's clock: the "
                   "process may have lived longer)")
        for fault in self.faults:
            yield "sennit: " + fault.removeprefix("sennit: ")
