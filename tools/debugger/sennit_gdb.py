# SPDX-License-Identifier: Apache-2.0
"""The commands `info fibers`, `fiber` and `fiber apply` for gdb.

A fiber is selected without a change of the process: an unwinder makes the
fiber's frames the callers of the innermost frame of a thread. So it works in
core files as well, and nothing must be restored before the process goes on. A
frame filter leaves that one frame of the thread out of backtraces.
"""

import os
import sys
import time

import gdb
import gdb.unwinder

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sennit_fibers  # noqa: E402
import sennit_where  # noqa: E402

MOST_FRAMES = 64  # in search of where a fiber is


class Target:
    """What sennit_fibers asks of gdb."""

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
        try:
            return int(gdb.parse_and_eval("&" + name))
        except gdb.error:
            return None

    def function(self, address):
        text = gdb.execute("info symbol %#x" % address, to_string=True)
        if text.startswith("No symbol"):
            return None
        return text.split(" in section ")[0].split(" + ")[0]

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

    def now(self):
        connection = getattr(self.inferior, "connection", None)
        if connection is not None and connection.type != "native":
            return None
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Kept:
    """The thread and frame that were selected before, again."""

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
            selection.take(*self.selected)
        if self.level:
            try:
                gdb.execute("frame %d" % self.level, to_string=True)
            except gdb.error:
                pass


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class Selection(gdb.unwinder.Unwinder):
    """The fiber whose frames a thread shows instead of its own."""

    def __init__(self):
        super().__init__("sennit-fiber")
        self.fiber = None
        self.process = None

    def take(self, fiber, process):
        """Select the fiber and its innermost frame."""
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
        self.fiber = self.process = None
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
        if not self.is_on_top() or \
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


class Hide:
    """A frame filter: leaves out the thread's innermost frame."""

    def __init__(self):
        self.name = "sennit-fiber"
        self.priority = 10000
        self.enabled = False
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        for frame in frames:
            if not selection.is_on_top() or \
                    frame.inferior_frame().level() >= selection.level:
                yield frame


hide = Hide()
selection = Selection()
gdb.unwinder.register_unwinder(None, selection, replace=True)
numbers = {}  # of each process: the number of each record


def look():
    """The process as it is now."""
    target = Target()
    key = (target.inferior.num, target.inferior.pid)
    return sennit_fibers.Process(target, numbers.setdefault(key, {}))


def forget(_):
    selection.drop()


gdb.events.cont.connect(forget)
gdb.events.exited.connect(forget)
if hasattr(gdb.events, "inferior_call"):
    gdb.events.inferior_call.connect(forget)


def frames_of(fiber, process):
    """What sennit_where.where takes."""
    own = gdb.solib_name(process.target.symbol("sennit_scheduler_create") or 0)
    selection.take(fiber, process)
    frame = gdb.selected_frame()
    for _ in range(MOST_FRAMES):
        if frame is None:
            return
        pc = frame.pc()
        name = frame.name() or process.target.function(pc)
        yield name, (gdb.solib_name(pc) == own if own else None), pc
        frame = frame.older()


def where(fiber, process):
    if fiber.thread is None or fiber.thread.is_valid():
        try:
            return sennit_where.where(process, fiber,
                                      frames_of(fiber, process))
        except (gdb.error, sennit_fibers.Fault) as problem:
            return "(%s)" % problem
    return ""


class Command(gdb.Command):
    """A command whose faults are one line."""

    def __init__(self, name, prefix=False):
        super().__init__(name, gdb.COMMAND_STACK, prefix=prefix)

    def invoke(self, text, from_tty):
        self.dont_repeat()
        try:
            self.run(text, from_tty)
        except sennit_fibers.Fault as fault:
            raise gdb.GdbError(str(fault)) from None


class InfoFibers(Command):
    """List the fibers of the process: info fibers

N is a number that stays with the fiber's stack. `fiber` is the worker and the
number that reports show; b stands for a bound thread. `where` is the innermost
function of the program."""

    def run(self, _text, _from_tty):
        mark = selection.number()
        process = look()
        with Kept():
            lines = list(process.table(lambda f: where(f, process), mark))
        print("\n".join(lines))


def show(fiber, process):
    print(process.title(fiber))
    for fault in process.faults:
        print("sennit: " + fault)


class Fiber(Command):
    """Select a fiber: fiber N | fiber WORKER.ID | fiber none

Its frames take the place of those of its worker's thread, for bt, up, frame
and info locals, until another fiber or `none` is selected, or the process
runs. Nothing in the process changes. Without an argument: which fiber is
selected."""

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
        selection.take(fiber, process)
        gdb.execute("frame", from_tty)


class FiberApply(Command):
    """Run a command for fibers: fiber apply all COMMAND
fiber apply N... COMMAND"""

    def run(self, text, from_tty):
        words = text.split()
        count = 1
        while words[:1] != ["all"] and count < len(words) and \
                words[count][0].isdigit():
            count += 1
        if len(words) <= count:
            raise sennit_fibers.Fault("fiber apply: which fibers, and which "
                                      "command?")
        process = look()
        fibers = process.select(words[:count])
        with Kept():
            for fiber in fibers:
                self.one(fiber, process, " ".join(words[count:]))
        for fault in process.faults:
            print("sennit: " + fault)

    @staticmethod
    def one(fiber, process, command):
        print("\n" + process.title(fiber))
        try:
            selection.take(fiber, process)
            gdb.execute(command)
        except (gdb.error, sennit_fibers.Fault) as problem:
            print(problem)


InfoFibers("info fibers")
Fiber("fiber", prefix=True)
FiberApply("fiber apply")
