# SPDX-License-Identifier: Apache-2.0
"""The commands `fibers` and `fiber` for lldb.

A suspended fiber is selected as a thread that sennit_lldb_threads.py makes:
lldb takes its registers from there, so nothing in the process changes, and core
files work as well. The fibers that were selected stay in the list of threads
until the process runs.
"""

import os
import sys
import time

import lldb

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
import sennit_fibers  # noqa: E402
import sennit_holders  # noqa: E402
import sennit_list  # noqa: E402
import sennit_where  # noqa: E402

MOST_STACKS = 1000  # that lldb unwinds, because each becomes a thread

# What sennit_lldb_threads.py reads.
machine = 0
registers = {}  # by name, of each fiber that was a thread since the stop
shown = set()   # the fibers that stay in the list of threads
stop = None     # the process and the stop that these are of


class Target:
    """The target of sennit_fibers, by lldb."""

    def __init__(self, debugger):
        self.target = debugger.GetSelectedTarget()
        self.process = self.target.GetProcess()
        if not self.process.IsValid():
            raise sennit_fibers.Fault("sennit: there is no process")
        if self.process.GetState() != lldb.eStateStopped:
            raise sennit_fibers.Fault("sennit: the process runs")
        self.library = None  # the file of the library that is read

    def read(self, address, size):
        error = lldb.SBError()
        data = self.process.ReadMemory(address, size, error)
        if error.Fail() or data is None:
            # Core files lack what is constant: lldb reads it from the program.
            error.Clear()
            place = lldb.SBAddress(address, self.target)
            data = self.target.ReadMemory(place, size, error)
        if error.Fail() or data is None:
            raise sennit_fibers.Unreadable
        return data

    def places(self, name):
        found = []
        for symbol in self.target.FindSymbols(name):
            address = symbol.GetSymbol().GetStartAddress()
            loaded = address.GetLoadAddress(self.target)
            module = symbol.GetModule()
            if loaded != lldb.LLDB_INVALID_ADDRESS:
                head = module.GetObjectFileHeaderAddress()
                found.append((loaded, str(module.GetFileSpec()),
                              build_of(module),
                              head.GetLoadAddress(self.target)))
        return found

    def function(self, address):
        return self.target.ResolveLoadAddress(address).GetSymbol().GetName()

    def line(self, address):
        return line_of(self.target.ResolveLoadAddress(address).GetLineEntry())

    def threads(self):
        for thread in self.process:
            tid = thread.GetThreadID()
            if tid not in registers:
                yield thread, tid, thread.GetFrameAtIndex(0).GetSP()

    def is_core(self):
        return self.process.GetPluginName() == "elf-core"

    def now(self):
        if self.is_core() or \
                self.target.GetPlatform().GetName() != "host":
            return None
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def is_library(self, module):
        """True in a file of the library; None if that is the program."""
        program = self.target.FindModule(self.target.GetExecutable())
        if self.library in (None, str(program.GetFileSpec())):
            return None
        name = module.GetFileSpec().GetFilename() or ""
        return str(module.GetFileSpec()) == self.library or \
            sennit_where.is_library_file(name)


def build_of(module):
    return (module.GetUUIDString() or "").replace("-", "").lower() or None


numbers = {}  # of each process: the number of each record


def stop_of(process):
    return process.GetUniqueID(), process.GetStopID(True)


def look(debugger):
    target = Target(debugger)
    process = target.process
    global stop
    if stop != stop_of(process):
        stop = stop_of(process)
        registers.clear()
        shown.clear()
    return sennit_fibers.Process(
        target, numbers.setdefault(process.GetUniqueID(), {}))


def load_threads(debugger, process):
    """Have lldb use sennit_lldb_threads.py, until the process ends."""
    global machine
    machine = process.context.machine
    path = os.path.join(FOLDER, "sennit_lldb_threads.py")
    name = "target.process.python-os-plugin-path"
    current = debugger.GetInternalVariableValue(
        name, debugger.GetInstanceName())
    if current.GetStringAtIndex(0) != path:
        debugger.HandleCommand("settings set %s '%s'" % (name, path))


def thread_of(debugger, process, fiber):
    """The thread that shows the fiber."""
    if fiber.thread is not None:
        return fiber.thread
    values = process.registers(fiber)
    load_threads(debugger, process)
    lldb_process = process.target.process
    registers[fiber.address] = values
    thread = lldb_process.GetThreadByID(fiber.address)
    if not thread.IsValid():  # or no longer
        thread = lldb_process.CreateOSPluginThread(fiber.address, 0)
    if not thread.IsValid():
        raise sennit_fibers.Fault("fiber %d: lldb does not show it"
                                  % fiber.number)
    return thread


def line_of(line):
    """"file:line", or empty without debug information."""
    if not line.IsValid() or not line.GetLine():
        return ""
    return "%s:%d" % (line.GetFileSpec().GetFilename(), line.GetLine())


def place_of(frame):
    return line_of(frame.GetLineEntry())


def calls_of(thread, process, most):
    """The frames, as sennit_where.Call. Where functions are inlined, only the
    innermost has the frame's address."""
    calls = []
    names = []
    for frame in thread:
        pc = pc if names else frame.GetPC()
        names.append((sennit_where.plain(frame.GetFunctionName()),
                      place_of(frame)))
        if not frame.IsInlined():
            calls.append(sennit_where.Call(
                pc, frame.GetSP(), tuple(names),
                process.target.is_library(frame.GetModule())))
            names = []
        if len(calls) == most:
            break
    return calls


def unwinder_of(debugger, process):
    def unwind(fiber, most):
        return calls_of(thread_of(debugger, process, fiber), process, most)
    return unwind


def selected(process):
    """The record of the selected fiber, for the mark in the list."""
    tid = process.target.process.GetSelectedThread().GetThreadID()
    return tid if tid in registers else 0


def fibers(debugger, text, result, _dict):
    try:
        request = sennit_list.Request(text)
        process = look(debugger)
        before = process.target.process.GetSelectedThread().GetThreadID()
        stacks = sennit_where.Stacks(process, unwinder_of(debugger, process),
                                     MOST_STACKS)
        result.SetImmediateOutputFile(debugger.GetOutputFile())
        for line in request.lines(process, stacks, selected(process)):
            result.AppendMessage(line)
        process.target.process.SetSelectedThreadByID(before)
    except sennit_fibers.Fault as fault:
        result.SetError(str(fault))


fibers.__doc__ = ("""List the fibers of the process: fibers [FILTER...] [FORM]

""" + sennit_list.__doc__.partition("\n\n")[2] + """
N is a number that stays with the fiber's stack. `fiber` is the worker and the
number that reports show; b stands for a bound thread. `where` is the public
function that the fiber is in, and the function of the program that called it.
Below the list: deadlocks, and the holders of locks that fibers wait for.""")


def run(debugger, thread, command, result):
    answer = lldb.SBCommandReturnObject()
    debugger.GetCommandInterpreter().HandleCommand(
        command, lldb.SBExecutionContext(thread), answer, False)
    result.AppendMessage((answer.GetOutput() or "").rstrip("\n"))
    if not answer.Succeeded():
        result.AppendMessage((answer.GetError() or "").rstrip("\n"))


def program_frame(process, f, thread):
    """The index of the innermost frame of the program."""
    if f.is_running:
        return 0
    calls = calls_of(thread, process, sennit_where.MOST_FRAMES)
    place = sennit_where.find_place(process, f, calls)
    return place.name + sum(len(c.names) for c in calls[:place.frame])


def apply(debugger, words, result):
    words, command = sennit_fibers.split_apply(words)
    process = look(debugger)
    before = process.target.process.GetSelectedThread().GetThreadID()
    for f in process.select(words):
        result.AppendMessage("\n" + process.heading(f))
        try:
            thread = thread_of(debugger, process, f)
            first = program_frame(process, f, thread)
            thread.SetSelectedFrame(first)
            run(debugger, thread, "thread backtrace -s %d" % first
                if command == "bt" else command, result)
        except sennit_fibers.Fault as fault:
            result.AppendMessage(str(fault))
    process.target.process.SetSelectedThreadByID(before)
    for fault in process.faults:
        result.AppendMessage("sennit: " + fault)


def select(debugger, word, result):
    process = look(debugger)
    f = process.find(word)
    thread = thread_of(debugger, process, f)
    result.AppendMessage(process.heading(f))
    for line in sennit_holders.Holders(process).lines({f.address}):
        result.AppendMessage(line)
    for fault in process.faults:
        result.AppendMessage("sennit: " + fault)
    process.target.process.SetSelectedThread(thread)
    if f.thread is None:
        shown.add(f.address)
    first = program_frame(process, f, thread)
    thread.SetSelectedFrame(first)
    result.AppendMessage(str(thread.GetFrameAtIndex(first)))


def fiber(debugger, text, result, _dict):
    """Select a fiber, or run a command for fibers: fiber N | fiber WORKER.ID |
fiber apply all COMMAND | fiber apply N... COMMAND

The fiber becomes the selected thread, for bt, up, frame and frame variable, at
the program's innermost frame. `fiber apply all bt` begins there, too; `bt` of a
selected fiber and `fiber apply all thread backtrace` show the library's frames.
`thread select` leaves it. Nothing in the process changes."""
    words = text.split()
    try:
        if words[:1] == ["apply"]:
            apply(debugger, words[1:], result)
        elif len(words) == 1:
            select(debugger, words[0], result)
        else:
            raise sennit_fibers.Fault("fiber: which one? See fibers")
    except sennit_fibers.Fault as fault:
        result.SetError(str(fault))


def __lldb_init_module(debugger, _dict):
    for name in ("fibers", "fiber"):
        debugger.HandleCommand("command script add -f sennit_lldb.%s %s"
                               % (name, name))
