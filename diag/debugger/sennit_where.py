# SPDX-License-Identifier: Apache-2.0
"""The frames of fibers: which are the library's, and which are known already.

A debugger takes milliseconds to unwind one stack, and 100,000 fibers wait at a
few places. So what it has found is kept as a tree: from a frame, whose return
address stands how far above its stack pointer, and which frame comes next.
Another fiber whose stack has the same addresses at the same distances has the
same frames. Only stacks that leave the tree are unwound.
"""

import collections
import re
import struct

from sennit_descriptor import POINTER, Fault

MOST_FRAMES = 128

# A frame. names are pairs of a function and "file:line" or "", those that are
# inlined at pc first. own is True in a file of the library, False in another,
# None where the library is part of the program.
Call = collections.namedtuple("Call", "pc sp names own")

SUFFIX = re.compile(r"(@plt|\[cold\]|\.(lto_priv|constprop|part|isra|cold|llvm)"
                    r"(\.\d+)*)+$")
FILE = re.compile(r"libsennit(-[a-z]+)?\.(so|dylib|[0-9])")


def is_library_file(name):
    return bool(FILE.match(name.rpartition("/")[2]))


def plain(name):
    """A function's name without what compilers and linkers add."""
    return SUFFIX.sub("", name) if name else "??"


def is_inside(name):
    """Whether a function of this name belongs to the library."""
    return name.startswith(("sn_", "sennit_", "arch_", "os_"))


def called_at(process, pc):
    """The address that the call before pc calls, or None."""
    try:
        if process.context.machine == 62:
            code = process.memory.read(pc - 6, 6, "code")
            offset, = struct.unpack_from("<i", code, 2)
            if code[:2] == b"\xff\x15":  # call *offset(%rip)
                return process.memory.pointer(pc + offset, "address")
            return pc + offset if code[1] == 0xe8 else None
        code, = struct.unpack("<I", process.memory.read(pc - 4, 4, "code"))
        if code >> 26 != 0x25:  # bl
            return None
        offset = (code & 0x3ffffff) << 2
        return pc - 4 + offset - ((offset & 1 << 27) << 1)
    except Fault:
        return None


class Place:
    """Where a fiber is: the innermost function of the program, and the public
    call that it has made. `frame` and `name` are indexes: of the frame, and of
    the function among its names."""

    def __init__(self, frame, name, function, public):
        self.frame = frame
        self.name = name
        self.public = public
        self.text = "%s < %s" % (public, function) if public else function


class Search:
    """Looks for the Place of a stack, from the innermost frame outwards."""

    def __init__(self, process, fiber):
        self.process = process
        self.is_running = fiber.is_running
        self.is_behind = fiber.is_running  # libc's frames may come first
        self.inner = ""

    def look(self, number, call):
        """The Place, if it is in this frame."""
        for i, (name, _) in enumerate(call.names):
            if self._is_program(name, call):
                return Place(number, i, name, self._public(call))
            self.is_behind = self.is_behind or call.own
            self.inner = name
        return None

    def _is_program(self, name, call):
        if call.own is not None:
            return not call.own and self.is_behind
        if is_inside(name):
            return False
        return self.is_running or self._public(call)

    def _public(self, call):
        """The public call that the frame has made. It may have no frame of its
        own, because it has passed the rest on to another function, and it may
        be inlined, which the debugger knows."""
        if self.is_running and call.own is None and not is_inside(self.inner):
            return ""
        if self.inner.startswith("sennit_"):
            return self.inner
        callee = called_at(self.process, call.pc)
        called = plain(self.process.function(callee)) if callee else ""
        return called if called.startswith("sennit_") else ""


def place_without_call(process, fiber, calls):
    """The Place where no frame has called a public function."""
    task = plain(process.function(fiber.task)) if fiber.task else None
    found = public = None
    inner = ""
    for number, call in enumerate(calls):
        for i, (name, _) in enumerate(call.names):
            if name == task:
                return found or Place(number, i, name, "")
            if is_inside(inner) and not is_inside(name):
                # Public functions are inlined, and the debugger does not know
                # of it: it is the caller of the outermost of the library's
                # functions that the task has called.
                found = Place(number, i, name, "")
            if name.startswith("sennit_"):
                public = Place(number, i, task or "??", name)
            inner = name
    if task and public:  # the task has ended with this call
        return public
    name = calls[0].names[0][0] if calls else "??"
    return (found if not task else None) or Place(0, 0, name, "")


def find_place(process, fiber, calls):
    search = Search(process, fiber)
    for number, call in enumerate(calls):
        place = search.look(number, call)
        if place:
            return place
    return place_without_call(process, fiber, calls)


# A function of a stack: number is that of its frame, counted with inlined ones.
Function = collections.namedtuple("Function", "number name line pc is_library")


def functions_of(process, fiber, calls):
    """The Place, and all functions of the stack: those within a public call and
    those below the task are the library's."""
    place = find_place(process, fiber, calls)
    task = plain(process.function(fiber.task)) if fiber.task else None
    functions = []
    is_below = False
    for i, call in enumerate(calls):
        for k, (name, line) in enumerate(call.names):
            is_within = (i, k) < (place.frame, place.name) and \
                not fiber.is_running
            is_library = call.own if call.own is not None else is_inside(name)
            functions.append(Function(len(functions), name, line, call.pc,
                                      bool(is_library or is_within or
                                           is_below)))
            is_below = is_below or name == task
    if task and not is_below:  # its frame is missing, so there are no others
        functions = [f._replace(is_library=True) for f in functions]
    return place, functions


class Node:
    """A frame of the tree."""

    __slots__ = ("call", "steps", "place", "depths", "stack")

    def __init__(self, call):
        self.call = call
        self.steps = {}     # (distance of the next frame's sp, of the return
                            # address): the nodes, by return address
        self.place = None   # if the Place is not further out
        self.depths = set()  # of stacks that end here: from sp to the record
        self.stack = None   # ...: all its calls


class Stacks:
    """The stacks of the fibers of a process. unwind(fiber, most) returns up to
    so many calls; it may raise Fault. Only `most` stacks are unwound."""

    def __init__(self, process, unwind, most=1 << 62):
        self.process = process
        self.unwind = unwind
        self.left = most
        self.first = {}
        self.shown = {}  # for callers that show stacks: by id() of the calls

    def where(self, f):
        """Where the fiber is, in words."""
        try:
            if f.thread is not None:
                calls = self.unwind(f, MOST_FRAMES)
                return find_place(self.process, f, calls).text
            node = self._match(f, False)
            if node is not None:
                return node.place.text
            return find_place(self.process, f, self._learn(f)).text
        except Fault as fault:
            return "(%s)" % fault

    def calls(self, f):
        """All frames, as a tuple of Call."""
        if f.thread is not None:
            return tuple(self.unwind(f, MOST_FRAMES))
        node = self._match(f, True)
        return node.stack if node is not None else self._learn(f)

    def _word(self, f, at):
        m = self.process.memory
        offset = at - m.start
        if 0 <= offset <= len(m.piece) - 8:
            return POINTER.unpack_from(m.piece, offset)[0]
        if f.low and not f.low <= at < f.address:
            return 0
        m.fetch(at, min(4096, f.address - at) if f.low else 4096)
        return m.pointer(at, "stack")

    def _match(self, f, whole):
        """The node at which the fiber's stack ends, or its place is known."""
        pc, sp = self.process.start(f)
        node = self.first.get(pc)
        while node is not None:
            if not whole and node.place is not None:
                return node
            if node.stack is not None:
                return node if f.address - sp in node.depths else None
            node, sp = self._step(f, node, sp)
        return None

    def _step(self, f, node, sp):
        for (distance, at), after in node.steps.items():
            found = after.get(self._word(f, sp + at))
            if found is not None:
                return found, sp + distance
        return None, sp

    def _learn(self, f):
        if not self.left:
            raise Fault("not unwound")
        self.left -= 1
        calls = tuple(self.unwind(f, MOST_FRAMES))
        search = Search(self.process, f)
        nodes = self.first
        is_found = False
        for number, call in enumerate(calls):
            node = nodes.setdefault(call.pc, Node(call))
            place = None if is_found else search.look(number, call)
            if place is not None:
                node.place, is_found = place, True
            if number + 1 == len(calls):
                break
            step = self._distances(f, call, calls[number + 1])
            if step is None:
                return calls
            nodes = node.steps.setdefault(step, {})
        if calls:
            node.stack = calls
            node.depths.add(f.address - calls[-1].sp)
            if not is_found:
                node.place = place_without_call(self.process, f, calls)
        return calls

    def _distances(self, f, call, after):
        """From the frame's stack pointer to the next one's, and to the return
        address, which x86-64 has right below that."""
        for at in range(after.sp - 8, max(call.sp, after.sp - 4096) - 1, -8):
            if self._word(f, at) == after.pc:
                return after.sp - call.sp, at - call.sp
        return None
