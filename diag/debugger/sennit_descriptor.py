# SPDX-License-Identifier: Apache-2.0
"""Reads sennit_debug_descriptor, and memory as it describes it.

The descriptor is that of core/include/sennit/detail/debugger.h. Whatever cannot be read or
is not as described raises Fault.
"""

import collections
import struct

MAGIC = b"sennitdb"
VERSION = 1
MOST_REGISTERS = 20

# The members of struct sennit_debug_descriptor behind the magic, in order.
HEAD = ("version", "size")
ADDRESSES = ("schedulers", "task_names", "waits", "context")
NUMBERS = (
    "task_names_count", "waits_count",
    "scheduler_link_at", "scheduler_name_at", "scheduler_name_size",
    "scheduler_workers_at", "scheduler_capacity_at", "scheduler_bound_at",
    "worker_size", "worker_current_at", "worker_main_at", "worker_bound_at",
    "worker_fibers_at", "worker_index_at", "worker_thread_at",
    "worker_clock_at",
    "fiber_size", "fiber_link_at", "fiber_context_at", "fiber_worker_at",
    "fiber_id_at", "fiber_low_at", "fiber_task_at", "fiber_object_at",
    "fiber_since_at", "fiber_deadline_at", "fiber_doing_at",
    "fiber_name_version_at", "fiber_name_at", "fiber_name_size",
    "doing_state", "doing_kind", "doing_kind_shift", "doing_timed",
)
LAYOUT = struct.Struct("<8s%dI%dQ%dI" % (len(HEAD), len(ADDRESSES),
                                         len(NUMBERS)))

# struct sennit_debug_waits.
Waits = collections.namedtuple(
    "Waits", "size identity_at scope_at owner_at reads_at reads_count reader "
    "site_at")
WAITS = struct.Struct("<%dI" % len(Waits._fields))
POINTER = struct.Struct("<Q")

# DWARF's numbers of the registers that debuggers get, by e_machine.
REGISTERS = {
    62: {3: "rbx", 6: "rbp", 12: "r12", 13: "r13", 14: "r14", 15: "r15"},
    183: dict((n, "x%d" % n) for n in range(19, 30)),
}
PC_AND_SP = {62: ("rip", "rsp"), 183: ("pc", "sp")}


class Fault(Exception):
    """A fault, whose text is one line for the user."""


class Unreadable(Exception):
    """The target has no memory at this address."""


class Memory:
    """Typed reads of the target, which stands still. One piece of its memory is
    kept, because a fiber's record and the live part of its stack are one."""

    def __init__(self, target):
        self.target = target
        self.start = 0
        self.piece = b""

    def fetch(self, address, size):
        """Keep this piece; if it cannot be read, keep the old one."""
        try:
            piece = self.target.read(address, size)
        except Unreadable:
            return
        if len(piece) == size:
            self.start, self.piece = address, piece

    def read(self, address, size, what):
        at = address - self.start
        if 0 <= at and at + size <= len(self.piece):
            return self.piece[at:at + size]
        try:
            data = self.target.read(address, size)
        except Unreadable:
            data = b""
        if len(data) != size:
            raise Fault("%s: cannot read %d bytes at %#x"
                        % (what, size, address))
        return data

    def pointer(self, address, what):
        return POINTER.unpack(self.read(address, 8, what))[0]

    def string(self, address, size=128):
        """The characters up to a zero; fewer where memory ends."""
        text = b""
        while len(text) < size and b"\0" not in text:
            step = 16 - address % 16
            try:
                text += self.target.read(address, step)
            except Unreadable:
                break
            address += step
        return text[:size].split(b"\0")[0]


class Record:
    """The bytes of a struct whose members are at known offsets."""

    def __init__(self, data, what):
        self.data = data
        self.what = what

    def get(self, form, at):
        try:
            return struct.unpack_from("<" + form, self.data, at)[0]
        except struct.error:
            raise Fault("%s: the descriptor names an offset outside: %d"
                        % (self.what, at)) from None


def read_descriptor(memory, address):
    what = "sennit_debug_descriptor"
    head = memory.read(address, 16, what)
    magic, version, size = struct.unpack("<8sII", head)
    if magic != MAGIC:
        raise Fault("sennit: what stands at sennit_debug_descriptor (%#x) is "
                    "none" % address)
    if version != VERSION:
        raise Fault("sennit: the library's descriptor has version %d, and "
                    "this script reads version %d: use the script that was "
                    "installed with the library" % (version, VERSION))
    if size != LAYOUT.size:
        raise Fault("sennit: the library's descriptor has %d bytes, not %d: "
                    "use the script that was installed with the library"
                    % (size, LAYOUT.size))
    names = ("magic",) + HEAD + ADDRESSES + NUMBERS
    values = LAYOUT.unpack(memory.read(address, size, what))
    return collections.namedtuple("Descriptor", names)(*values)


def read_waits(memory, file):
    """sennit_debug_waits of the library in this file, or None if it is another
    one."""
    address = next((at for at, of, *_ in memory.target.places(
        "sennit_debug_waits") if of == file), None)
    if not address:
        return None
    waits = Waits._make(WAITS.unpack(memory.read(address, WAITS.size,
                                                 "sennit_debug_waits")))
    return waits if waits.size == WAITS.size else None


class Context:
    """Where a suspended fiber's registers lie."""

    def __init__(self, memory, address):
        what = "sennit: the description of contexts"
        head = memory.read(address, 20, what)
        self.machine, self.pc_at, self.sp_at, self.sp_is_stored, count = \
            struct.unpack("<5I", head)
        if count > MOST_REGISTERS:
            raise Fault("%s: %d registers" % (what, count))
        data = memory.read(address + 20, 4 * count, what)
        self.registers = list(struct.iter_unpack("<2H", data))

    def start(self, memory, at):
        """The pc and the stack pointer of the context at this address."""
        pc = memory.pointer(at + self.pc_at, "context")
        if self.sp_is_stored:
            return pc, memory.pointer(at + self.sp_at, "context")
        return pc, at + self.sp_at

    def read(self, memory, at):
        """The registers by name, of the context at this address."""
        if self.machine not in REGISTERS:
            raise Fault("sennit: the library does not describe the contexts "
                        "of this processor")
        names = REGISTERS[self.machine]
        values = dict(zip(PC_AND_SP[self.machine], self.start(memory, at)))
        for number, offset in self.registers:
            if number in names:
                values[names[number]] = memory.pointer(at + offset, "context")
        return values
