# SPDX-License-Identifier: Apache-2.0
"""Finds the fibers of a process or a core file by sennit_debug_descriptor.

sennit_gdb.py and sennit_lldb.py are the front ends. A front end passes a
"target" with these methods:

    read(address, size)   bytes; raises Unreadable
    places(name)          of each symbol of that name: its address, its file,
                          the file's build id, hexadecimal, or None, and where
                          the file's head is in memory, or None
    function(address)     the name of a function, or None
    threads()             (handle, system's number, stack pointer) of each
    library               is set to the file of the library that is read
    now()                 CLOCK_MONOTONIC of the process in ns, or None
    is_core()             whether it is a core file

Schedulers and workers are read at once, fibers when they are asked for: there
may be 100,000 of them, and the first are wanted soon. Nothing is trusted: each
pointer may be wild and each list may be broken. The first fault of a list is
kept in `faults`; then the list is read from its other end up to a fault, and
the next list follows.
"""

import bisect
import struct

import sennit_builds
from sennit_descriptor import (  # noqa: F401, of which front ends use some
    PC_AND_SP, REGISTERS, Context, Fault, Memory, Record, Unreadable,
    read_waits)

MOST_SCHEDULERS = 4096
MOST_WORKERS = 1024
MOST_BOUND = 1 << 16
MOST_FIBERS = 1 << 24
AHEAD = 1024  # bytes of the stack that are read with its record
STATES = ("runs", "ready", "blocked", "?")
# Of enum sennit_waits_for.
FOR_RWLOCK, FOR_GROUP, FOR_IO = 8, 18, 19

word = struct.Struct("<I").unpack_from
address_in = struct.Struct("<Q").unpack_from


def escaped(text):
    """Bytes of the program as text without control characters."""
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
    """One fiber, as the walk saw it."""

    __slots__ = ("number", "address", "worker", "id", "state", "task", "name",
                 "kind", "object", "since", "is_running", "low", "saved",
                 "thread", "identity", "scope", "place", "reads", "site")

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
        self.is_placed = False  # a thread is on the stack of one of its fibers

    def title(self):
        if self.is_bound:
            return "%s, bound thread %d" % (self.scheduler, self.tid)
        return "%s, worker %s" % (self.scheduler, self.label)


class Process:
    """All schedulers, workers and fibers at one moment."""

    def __init__(self, target, numbers):
        self.target = target
        self.memory = Memory(target)
        self.numbers = numbers
        self.schedulers = []
        self.workers = []
        self.names = {}
        self.functions = {}
        library, self.faults = sennit_builds.find_library(self.memory)
        self.d = library.d
        target.library = library.file
        self.context = Context(self.memory, self.d.context)
        self.waits_by = read_waits(self.memory, library.file)
        self._read_tables()
        self._find_workers()
        self._find_threads()
        self.newest = max((w.clock for w in self.workers), default=0)
        self.now = target.now()
        self.clock_is_live = self.now is not None and self.now >= self.newest
        if not self.clock_is_live:
            self.now = self.newest
        self.met = []
        self.records = []  # of all stacks, idle ones as well
        self.unmet = self._walk()

    def fibers(self):
        """All fibers: first those that were read already, then the others."""
        at = 0
        while True:
            while at < len(self.met):
                yield self.met[at]
                at += 1
            f = next(self.unmet, None)
            if f is None:
                return
            self.met.append(f)

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

    def _list(self, first, most, what, parse):
        """What parse() makes of the links of a circular list, as far as it is
        sound; where it is broken also from the other end."""
        seen = set()
        for way in (0, 8):  # where the link to the next one is, to the last
            link = first
            try:
                while link:
                    if link not in seen:
                        seen.add(link)
                        yield parse(link)
                    after = self.memory.pointer(link + way, what)
                    if after == first or way and after in seen:
                        return
                    if way and self.memory.pointer(after, what) != link:
                        return
                    if after in seen or len(seen) >= most:
                        raise Fault("%s: the list is broken after %d members, "
                                    "at %#x" % (what, len(seen), link))
                    if not after:
                        raise Fault("%s: the list ends at %#x" % (what, link))
                    link = after
            except Fault as fault:
                if way:
                    return
                self.faults.append(str(fault))
            if not link:
                return

    def _find_workers(self):
        d = self.d
        first = self.memory.pointer(d.schedulers, "list of schedulers")
        for address in self._list(first, MOST_SCHEDULERS, "list of schedulers",
                                  lambda link: link - d.scheduler_link_at):
            try:
                self._scheduler(address)
            except Fault as fault:
                self.faults.append(str(fault))

    def _scheduler(self, s):
        d, m = self.d, self.memory
        name = escaped(m.string(s + d.scheduler_name_at,
                                d.scheduler_name_size)) or "sennit"
        what = "scheduler %s" % name
        workers = m.pointer(s + d.scheduler_workers_at, what)
        capacity, = word(m.read(s + d.scheduler_capacity_at, 4, what))
        if capacity > MOST_WORKERS:
            raise Fault("%s: %d workers" % (what, capacity))
        self.schedulers.append((name, capacity))
        data = m.read(workers, 8 * capacity, what) if capacity else b""
        for i, (w,) in enumerate(struct.iter_unpack("<Q", data)):
            if w:
                self._try_worker(w, name, "%s, worker %d" % (what, i), i)
        bound = m.pointer(s + d.scheduler_bound_at, what)
        for w in self._list(bound, MOST_BOUND, what + ", bound threads",
                            lambda link: link - d.worker_bound_at):
            self._try_worker(w, name, "%s, bound thread" % what, 0xffffffff)

    def _try_worker(self, address, scheduler, what, index):
        d = self.d
        try:
            if d.worker_size > 1 << 16 or d.fiber_size > 1 << 16:
                raise Fault("sennit: the descriptor's sizes are too large")
            record = Record(self.memory.read(address, d.worker_size, what),
                            what)
            if record.get("I", d.worker_index_at) != index:
                raise Fault("%s: what stands at %#x is no worker"
                            % (what, address))
            self.workers.append(Worker(record, address, d, scheduler))
        except Fault as fault:
            self.faults.append(str(fault))

    # --- fibers ---------------------------------------------------------

    def _walk(self):
        for w in self.workers:
            for f in self._fibers_of(w):
                # An idle stack is no fiber. A thread's own stack is one.
                if f.task or not f.is_running or not f.low:
                    f.number = self.numbers.setdefault(
                        f.address, len(self.numbers) + 1)
                    yield f

    def _fibers_of(self, w):
        """A thread belongs to the fiber on whose stack it is. The record at
        worker_current_at changes some instructions before the stack does, so
        it is believed only if all stacks of the worker are without a thread.
        """
        d = self.d
        current = None
        what = "scheduler " + w.title()
        for f in self._list(
                w.fibers, MOST_FIBERS, what + ", fibers",
                lambda link: self._fiber(w, link - d.fiber_link_at, what)):
            self.records.append(f.address)
            f.thread = self._thread_at(f)
            if f.thread is not None:
                w.thread, w.is_placed = f.thread, True
            elif f.address == w.current:
                current = f
                continue
            yield f
        if w.is_bound:
            try:
                f = self._fiber(w, w.address + d.worker_main_at, what)
                if f.address == w.current:
                    current = f
                else:
                    yield f
            except Fault as fault:
                self.faults.append(str(fault))
        if current is not None:
            current.thread = None if w.is_placed else w.thread
            yield current

    def _fiber(self, w, address, what):
        d = self.d
        what = "%s, fiber at %#x" % (what, address)
        if address != w.address + d.worker_main_at:
            self.memory.fetch(address - AHEAD, AHEAD + d.fiber_size)
        data = self.memory.read(address, d.fiber_size, what)
        try:
            return self._parse(w, address, data, what)
        except struct.error:
            raise Fault("%s: the descriptor names an offset outside"
                        % what) from None

    def _parse(self, w, address, data, what):
        d = self.d
        if address_in(data, d.fiber_worker_at)[0] != w.address:
            raise Fault("%s: %s" % (what, self._why_no_record(data)))
        f = Fiber()
        f.worker, f.address, f.thread = w, address, None
        f.id, = word(data, d.fiber_id_at)
        f.low, = address_in(data, d.fiber_low_at)
        f.saved, = address_in(data, d.fiber_context_at)
        f.task, = address_in(data, d.fiber_task_at)
        doing, = word(data, d.fiber_doing_at)
        state = doing & d.doing_state
        f.state = STATES[state & 3]
        f.is_running = state == 0
        f.kind = f.object = f.place = f.identity = f.scope = 0
        f.since = w.clock
        if state:
            f.since, = address_in(data, d.fiber_since_at)
            f.kind = (doing & d.doing_kind) >> d.doing_kind_shift
            f.object, = address_in(data, d.fiber_object_at)
        f.reads = ()
        f.site = 0
        by = self.waits_by
        if by:
            f.identity, = address_in(data, by.identity_at)
            f.scope, = address_in(data, by.scope_at)
            f.place = address_in(data, by.owner_at)[0] & ~3
            f.reads = struct.unpack_from("<%dQ" % min(by.reads_count, 64),
                                         data, by.reads_at)
            if f.task and by.site_at:
                f.site, = address_in(data, by.site_at)
        f.name = self.names.get(f.task, b"")
        if not word(data, d.fiber_name_version_at)[0] & 1:
            own = data[d.fiber_name_at:d.fiber_name_at + d.fiber_name_size]
            f.name = own.split(b"\0", 1)[0] or f.name
        return f

    def _why_no_record(self, data):
        if any(data):
            return "it does not belong to the worker: memory is damaged"
        if self.target.is_core():
            return ("the core file has only zeroes there, and lacks this and "
                    "other stacks. gdb's gcore leaves them out: use the "
                    "kernel's core file, or gdb's `fiber gcore`")
        return "only zeroes are there: memory is damaged"

    # --- threads --------------------------------------------------------

    def _find_threads(self):
        threads = list(self.target.threads())
        by_tid = dict((tid, handle) for handle, tid, _ in threads)
        for w in self.workers:
            w.thread = by_tid.get(w.tid)
        threads.sort(key=lambda thread: thread[2])
        self.handles = [handle for handle, _, _ in threads]
        self.pointers = [sp for _, _, sp in threads]

    def _thread_at(self, f):
        """The thread on the fiber's stack."""
        at = bisect.bisect_left(self.pointers, f.low)
        if f.low and at < len(self.pointers) and \
                self.pointers[at] < f.address:
            return self.handles[at]
        return None

    # --- for front ends -------------------------------------------------

    def _check_saved(self, f):
        if f.low and not f.low <= f.saved < f.address:
            raise Fault("fiber %d: its saved stack pointer %#x is not on its "
                        "stack" % (f.number, f.saved))
        if not f.saved:
            raise Fault("fiber %d: it has no saved registers" % f.number)

    def registers(self, f):
        """The registers of a fiber that no thread is on, by name."""
        self._check_saved(f)
        return self.context.read(self.memory, f.saved)

    def start(self, f):
        """The pc and the stack pointer of these registers."""
        self._check_saved(f)
        return self.context.start(self.memory, f.saved)

    def function(self, address):
        if address not in self.functions:
            self.functions[address] = self.target.function(address)
        return self.functions[address]

    def task_of(self, f, is_one=True):
        """The task as reports show it, or without its own name."""
        function = "its own stack"
        if f.task:
            function = self.function(f.task) or "%#x" % f.task
        name = f.name if is_one else self.names.get(f.task)
        return "%s (%s)" % (escaped(name), function) if name else function

    def site_of(self, f):
        """The call that has spawned its task, "function (file:line)"; empty if
        the library does not say."""
        if not f.site:
            return ""
        call = f.site - 1
        name = self.function(call) or "%#x" % call
        line = self.target.line(call)
        return "%s (%s)" % (name, line) if line else name

    def kind_of(self, f):
        """The kind of its wait, without the object, or an empty text."""
        if not f.kind or f.state != "blocked":
            return ""
        if f.kind < len(self.waits):
            return self.waits[f.kind]
        return "kind %d" % f.kind

    def wait_of(self, f):
        text = self.kind_of(f)
        if text and f.kind == FOR_IO:
            return "%s %d" % (text, f.object & 0xffffffff)
        return "%s %#x" % (text, f.object) if text and f.object else text

    def age(self, f):
        """A time in nanoseconds, as text."""
        return max(0, self.now - f.since)

    def notes(self):
        """Lines for the end of a list."""
        if not self.clock_is_live:
            yield ("(times up to the last reading of a worker's clock: the "
                   "process may have lived longer)")
        for fault in self.faults:
            yield "sennit: " + fault.removeprefix("sennit: ")

    def find(self, text):
        """The fiber with this number, worker.fiber or address."""
        found = [f for f in self.fibers() if text in
                 ("%d" % f.number, f.label(), "%#x" % f.address)]
        if len(found) > 1:
            raise Fault("several fibers are %s: use their numbers\n%s" % (
                text, "\n".join(self.title(f) for f in found)))
        if not found:
            raise Fault("no fiber is %s: see the first columns of the list"
                        % text)
        return found[0]

    def select(self, words):
        """The fibers that these words name, or all of them."""
        if words == ["all"]:
            return self.fibers()
        return [self.find(word) for word in words]

    def title(self, f):
        text = "fiber %d (%s, fiber %d): %s: %s" % (
            f.number, f.worker.title(), f.id, self.task_of(f), f.state)
        wait = self.wait_of(f)
        return text + (", waits for %s" % wait if wait else "")

    def heading(self, f):
        """The title of the output for a single fiber."""
        site = self.site_of(f)
        return self.title(f) + (", spawned at " + site if site else "")


def split_apply(words):
    """The words of `fiber apply`: those that name fibers, and the command."""
    count = 1
    while words[:1] != ["all"] and count < len(words) and \
            words[count][0].isdigit():
        count += 1
    if len(words) <= count:
        raise Fault("fiber apply: which fibers, and which command?")
    return words[:count], " ".join(words[count:])
