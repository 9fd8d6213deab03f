# SPDX-License-Identifier: Apache-2.0
"""The commands `info fibers`, `fiber` and `fiber apply` for gdb.

A fiber is selected without a change of the process: an unwinder makes the
fiber's frames the callers of the innermost frame of a thread. So it works in
core files as well, and nothing must be restored before the process goes on. A
frame filter leaves that one frame of the thread out of backtraces.
"""

import os
import re
import sys
import time

import gdb
import gdb.unwinder

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sennit_core  # noqa: E402
import sennit_fibers  # noqa: E402
import sennit_holders  # noqa: E402
import sennit_list  # noqa: E402
import sennit_where  # noqa: E402


class Target:
    """The target of sennit_fibers, by gdb."""

    def __init__(self):
        self.inferior = gdb.selected_inferior()
        if not self.inferior.pid:
            raise sennit_fibers.Fault("sennit: there is no process")

    def read(self, address, size):
        try:
            return bytes(self.inferior.read_memory(address, size))
        except (gdb.MemoryError, OverflowError):
            raise sennit_fibers.Unreadable from None

    def symbol(self, name):
        # Not as an expression: that of Rust knows no symbols without types.
        try:
            text = gdb.execute("info address " + name, to_string=True)
        except gdb.error:
            return None
        found = re.search(r" at (?:address )?(0x[0-9a-f]+)", text)
        return int(found.group(1), 16) if found else None

    def places(self, name):
        first = self.symbol(name)
        if not first:
            return []
        found = [first]
        files = {gdb.solib_name(first)}
        for line in self.lines("sennit_scheduler_create"):
            file = gdb.solib_name(line.pc)
            if file not in files:
                files.add(file)
                found += self.minimal(name, file)
        return [(at,) + self.file_of(at) for at in found]

    @staticmethod
    def lines(function):
        try:
            return gdb.decode_line(function)[1] or ()
        except gdb.error:
            return ()

    @staticmethod
    def minimal(name, file):
        """Symbol() finds only the symbol of the first file."""
        file = file or gdb.current_progspace().filename
        try:
            text = gdb.execute("maint print msymbols -objfile '%s'" % file,
                               to_string=True)
        except gdb.error:
            return []
        return [int(at, 16) for at in
                re.findall(r" (0x[0-9a-f]+) %s " % name, text)][:1]

    def file_of(self, address):
        """See places() in sennit_fibers.py."""
        name = gdb.solib_name(address) or gdb.current_progspace().filename
        path = os.path.realpath(name) if name else None
        ids = [file.build_id for file in gdb.objfiles() if file.filename and
               os.path.realpath(file.filename) == path]
        return name, ids[0] if ids else None, self.head_of(path)

    @staticmethod
    def head_of(path):
        """Not by address: gdb may have the address from another build."""
        try:
            text = gdb.execute("info proc mappings", to_string=True)
        except gdb.error:
            return None
        for line in text.splitlines():
            words = line.replace(" (deleted)", "").split()
            if words and words[0].startswith("0x") and \
                    os.path.realpath(words[-1]) == path:
                return int(words[0], 16)
        return None

    def function(self, address):
        text = gdb.execute("info symbol %#x" % address, to_string=True)
        if text.startswith("No symbol"):
            return None
        return text.split(" in section ")[0].split(" + ")[0]

    def line(self, address):
        return line_of(gdb.find_pc_line(address))

    def threads(self):
        with Kept():
            selection.drop()
            for thread in self.inferior.threads():
                thread.switch()
                try:
                    sp = int(gdb.newest_frame().read_register("sp"))
                except gdb.error:
                    continue  # it runs
                yield thread, thread.ptid[1], sp

    def connection(self):
        """"native", "core", "remote"... Before gdb 12 None, and in gdb 12 if
        nothing is known."""
        connection = getattr(self.inferior, "connection", None)
        return connection.type if connection is not None else None

    def is_core(self):
        return self.connection() == "core"

    def now(self):
        if self.connection() not in (None, "native"):
            return None
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Kept:
    """Select the thread and frame that were selected before."""

    def __enter__(self):
        self.thread = gdb.selected_thread()
        self.selected = selection.fiber, selection.process
        self.level = None
        try:
            self.level = gdb.selected_frame().level()
        except gdb.error:
            pass

    def __exit__(self, *_):
        selection.drop()
        if self.thread is None or not self.thread.is_valid():
            return
        self.thread.switch()
        if self.selected[0] is not None:
            selection.take_place(*self.selected)
        frame = gdb.newest_frame()
        while self.level and frame is not None and \
                frame.level() < self.level:
            frame = frame.older()
        if frame is not None:
            frame.select()


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class Selection(gdb.unwinder.Unwinder):
    """The fiber whose frames a thread shows instead of its own."""

    def __init__(self):
        super().__init__("sennit-fiber")
        self.drop_values()

    def drop_values(self):
        self.fiber = None    # that is selected
        self.process = None
        self.values = None   # its registers, if no thread is on its stack
        self.level = 0       # that of its innermost frame
        self.program_level = 0  # that of the innermost one of the program

    def take(self, fiber, process):
        """Select the fiber and its innermost frame, which is the library's."""
        self.drop()
        thread = fiber.thread or fiber.worker.thread
        if thread is None:
            thread = gdb.selected_thread() or \
                gdb.selected_inferior().threads()[0]
        thread.switch()
        if fiber.thread is None:
            self._replace(fiber, process, thread)
        else:
            gdb.newest_frame().select()

    def take_place(self, fiber, process):
        """Select the fiber and the innermost frame of the program. Backtraces
        begin there."""
        self.take(fiber, process)
        if fiber.is_running:
            return
        self.fiber, self.process = fiber, process
        self.thread = gdb.selected_thread()
        frame = gdb.selected_frame()
        calls = list(calls_from(frame, process, sennit_where.MOST_FRAMES))
        place = sennit_where.find_place(process, fiber, calls)
        for _ in range(place.name + sum(len(call.names) for call in
                                        calls[:place.frame])):
            frame = frame.older()
        self.program_level = frame.level()
        frame.select()
        hide.enabled = True

    def _replace(self, fiber, process, thread):
        values = process.registers(fiber)
        frame = gdb.newest_frame()
        self.pc = int(frame.read_register("pc"))
        self.sp = int(frame.read_register("sp"))
        self.values = values
        self.fiber, self.process = fiber, process
        self.thread = thread
        gdb.invalidate_cached_frames()
        frame = gdb.newest_frame()
        while frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
        frame = frame.older()
        if frame is None:
            self.drop()
            raise sennit_fibers.Fault("fiber %d: gdb does not show it"
                                      % fiber.number)
        self.level = frame.level()
        frame.select()
        hide.enabled = True

    def drop(self):
        if self.fiber is None:
            return
        self.drop_values()
        hide.enabled = False
        gdb.invalidate_cached_frames()

    def number(self):
        """The record of the selected fiber, for the mark in the list."""
        return self.fiber.address if self.fiber is not None else 0

    def is_on_top(self):
        thread = gdb.selected_thread()
        return self.fiber is not None and thread is not None and \
            thread.num == self.thread.num

    def __call__(self, pending):
        if not self.values or not self.is_on_top() or \
                int(pending.read_register("sp")) != self.sp or \
                int(pending.read_register("pc")) != self.pc:
            return None
        # Below the fiber's frames, or gdb says that the stack is corrupt.
        machine = self.process.context.machine
        sp = self.values[sennit_fibers.PC_AND_SP[machine][1]]
        info = pending.create_unwind_info(
            FrameId(gdb.Value(sp - 64), gdb.Value(self.pc)))
        for name, value in self.values.items():
            like = pending.read_register(name).type
            info.add_saved_register(name, gdb.Value(value).cast(like))
        return info


class Library(gdb.Parameter):
    """Whether backtraces of fibers begin with the library's frames, or at the
innermost frame of the program."""

    set_doc = "Show the library's frames of fibers in backtraces."
    show_doc = "Whether backtraces of fibers begin with the library's frames."

    def __init__(self):
        super().__init__("sennit-library", gdb.COMMAND_STACK,
                         gdb.PARAM_BOOLEAN)
        self.value = False

    def get_set_string(self):
        return ""

    def get_show_string(self, value):
        return "The library's frames of fibers are shown: %s." % value


class Hide:
    """A frame filter: drops the library's frames and those of no fiber."""

    def __init__(self):
        self.name = "sennit-fiber"
        self.priority = 10000
        self.enabled = False
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        first = selection.level
        if not library.value:
            first = max(first, selection.program_level)
        for frame in frames:
            if not selection.is_on_top() or \
                    frame.inferior_frame().level() >= first:
                yield frame


library = Library()
hide = Hide()
selection = Selection()
gdb.unwinder.register_unwinder(None, selection, replace=True)
numbers = {}  # of each process: the number of each record


def look():
    """The process in its current state."""
    target = Target()
    key = (target.inferior.num, target.inferior.pid)
    return sennit_fibers.Process(target, numbers.setdefault(key, {}))


def forget(_):
    selection.drop()


gdb.events.cont.connect(forget)
gdb.events.exited.connect(forget)
if hasattr(gdb.events, "inferior_call"):
    gdb.events.inferior_call.connect(forget)


def line_of(line):
    """"file:line", or empty without debug information."""
    if line.symtab is None or not line.line:
        return ""
    return "%s:%d" % (os.path.basename(line.symtab.filename), line.line)


def place_of(frame):
    return line_of(frame.find_sal())


def calls_from(frame, process, most):
    """The frames from this one on, as sennit_where.Call."""
    own = gdb.solib_name(process.target.symbol("sennit_scheduler_create") or 0)
    names = []
    while frame is not None and most:
        pc = frame.pc()
        names.append((sennit_where.plain(frame.name() or
                                         process.function(pc)),
                      place_of(frame)))
        if frame.type() != gdb.INLINE_FRAME:
            file = gdb.solib_name(pc)
            yield sennit_where.Call(
                pc, int(frame.read_register("sp")), tuple(names),
                sennit_where.is_library_file(file or "") if own else None)
            names = []
            most -= 1
        frame = frame.older()


def unwinder_of(process):
    def unwind(fiber, most):
        if fiber.thread is not None and not fiber.thread.is_valid():
            raise sennit_fibers.Fault("its thread has ended")
        try:
            selection.take(fiber, process)
            return list(calls_from(gdb.selected_frame(), process, most))
        except gdb.error as problem:
            raise sennit_fibers.Fault(str(problem)) from None
    return unwind


class Command(gdb.Command):
    """A command that prints a fault as one line."""

    def __init__(self, name, prefix=False):
        super().__init__(name, gdb.COMMAND_STACK, prefix=prefix)

    def invoke(self, text, from_tty):
        self.dont_repeat()
        try:
            self.run(text, from_tty)
        except sennit_fibers.Fault as fault:
            raise gdb.GdbError(str(fault)) from None


class InfoFibers(Command):
    __doc__ = ("""List the fibers of the process: info fibers [FILTER...] [FORM]

""" + sennit_list.__doc__.partition("\n\n")[2] + """
N is a number that stays with the fiber's stack. `fiber` is the worker and the
number that reports show; b stands for a bound thread. `where` is the public
function that the fiber is in, and the function of the program that called it.
Below the list: deadlocks, and the holders of locks that fibers wait for.""")

    def run(self, text, _from_tty):
        request = sennit_list.Request(text)
        mark = selection.number()
        process = look()
        stacks = sennit_where.Stacks(process, unwinder_of(process))
        with Kept():
            for line in request.lines(process, stacks, mark):
                print(line)


def show(fiber, process):
    print(process.heading(fiber))
    for line in sennit_holders.Holders(process).lines({fiber.address}):
        print(line)
    for fault in process.faults:
        print("sennit: " + fault)


class Fiber(Command):
    """Select a fiber: fiber N | fiber WORKER.ID | fiber none

Its frames take the place of those of its worker's thread, for bt, up, frame
and info locals, until another fiber or `none` is selected, or the process
runs. They begin at the program's innermost frame; `down`, and backtraces after
`set sennit-library on`, also show the library's. Nothing in the process
changes. Without an argument: which fiber is selected."""

    def run(self, text, from_tty):
        if text == "none":
            selection.drop()
            return
        if not text:
            if selection.fiber is None:
                print("no fiber is selected")
            else:
                print(selection.process.title(selection.fiber))
            return
        process = look()
        fiber = process.find(text)
        show(fiber, process)
        selection.take_place(fiber, process)
        gdb.execute("frame", from_tty)


class FiberApply(Command):
    """Run a command for fibers: fiber apply all COMMAND
fiber apply N... COMMAND"""

    def run(self, text, from_tty):
        words, command = sennit_fibers.split_apply(text.split())
        process = look()
        fibers = process.select(words)
        with Kept():
            for fiber in fibers:
                self.one(fiber, process, command)
        for fault in process.faults:
            print("sennit: " + fault)

    @staticmethod
    def one(fiber, process, command):
        print("\n" + process.heading(fiber))
        try:
            selection.take_place(fiber, process)
            gdb.execute(command)
        except (gdb.error, sennit_fibers.Fault) as problem:
            print(problem)


class FiberGcore(Command):
    """Write a core file that contains the stacks of fibers: fiber gcore [FILE]

gcore leaves out what follows an unreadable page, such as the guard page of a
stack. This command runs gcore and adds it. Without a name: core.PID."""

    def run(self, text, _from_tty):
        process = look()
        if process.target.connection() not in (None, "native"):
            raise sennit_fibers.Fault("fiber gcore: needs a process of this "
                                      "machine")
        pid = process.target.inferior.pid
        name = text.strip() or "core.%d" % pid
        gdb.execute("gcore " + name)
        added = sennit_core.complete(name, pid, process)
        print("Added to it: %d KiB of fibers' stacks" % (added // 1024))


InfoFibers("info fibers")
Fiber("fiber", prefix=True)
FiberGcore("fiber gcore")
FiberApply("fiber apply")
