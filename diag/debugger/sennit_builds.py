# SPDX-License-Identifier: Apache-2.0
"""Which libsennit a process has, and whether the debugger's file is that build.

The debugger takes symbols from files, and a file may have been replaced since
the process loaded it, or not be the one that wrote the core file. Each build
has an identity, the note NT_GNU_BUILD_ID, which is also in memory.
"""

import struct

from sennit_descriptor import Fault, Unreadable, read_descriptor

PAGE = 4096
MOST_SEGMENTS = 64
PT_LOAD, PT_NOTE, NT_GNU_BUILD_ID = 1, 4, 3
SEGMENT = struct.Struct("<IIQQQQQQ")


def align(size):
    return (size + 3) & ~3


def id_in_notes(notes):
    """The build id, hexadecimal, or None."""
    while len(notes) >= 12:
        name, size, kind = struct.unpack_from("<3I", notes)
        at = 12 + align(name)
        if kind == NT_GNU_BUILD_ID and notes[12:12 + name] == b"GNU\0":
            return notes[at:at + size].hex()
        notes = notes[at + align(size):]
    return None


def segments_at(target, head):
    """(type, address, size) of each segment of the file whose head is in memory
    there."""
    data = target.read(head, 64)
    if data[:6] != b"\x7fELF\2\1":
        return []
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<2H", data, 54)
    if size != SEGMENT.size or count > MOST_SEGMENTS:
        return []
    all_of_them = list(SEGMENT.iter_unpack(target.read(head + table,
                                                       size * count)))
    loads = [s[3] for s in all_of_them if s[0] == PT_LOAD]
    bias = head - (min(loads) & -PAGE) if loads else 0
    return [(s[0], s[3] + bias, s[6]) for s in all_of_them]


def build_at(target, head):
    """The build id of the file whose head is in memory there, or None."""
    try:
        for kind, at, size in segments_at(target, head):
            if kind == PT_NOTE and size <= PAGE:
                found = id_in_notes(target.read(at, size))
                if found:
                    return found
    except (Unreadable, struct.error):
        pass
    return None


class Library:
    """One libsennit of the process: its descriptor, and what is wrong."""

    def __init__(self, memory, address, file, expected, head):
        self.file = file
        self.fault = self.d = self.other = None
        self.build = build_at(memory.target, head) if head else None
        if self.build and expected and self.build != expected:
            self.other = ("another build of libsennit (build id %s, expected "
                          "%s, that of %s): "
                          % (self.build, expected, file))
        try:
            self.d = read_descriptor(memory, address)
        except Fault as fault:
            self.fault = fault
            if self.other:
                self.fault = Fault("sennit: " + self.other + "its fibers "
                                   "cannot be found without its own file")

    def is_used(self, memory):
        try:
            return memory.pointer(self.d.schedulers, "schedulers") != 0
        except Fault:
            return False


def find_library(memory):
    """The library that has schedulers, and lines about it and others."""
    places = memory.target.places("sennit_debug_descriptor")
    if not places:
        raise Fault("sennit: no sennit_debug_descriptor: the program does not "
                    "use sennit, or its symbols are stripped")
    found = [Library(memory, *place) for place in places]
    sound = [one for one in found if one.d]
    if not sound:
        raise found[0].fault
    chosen = next((one for one in sound if one.is_used(memory)), sound[0])
    lines = []
    if chosen.other:
        lines.append(chosen.other + "names of its functions are wrong")
    for one in found:
        # A symbol may have a copy in the program.
        if one.d and one.d.schedulers == chosen.d.schedulers:
            continue
        lines.append("%s contains another libsennit (build id %s), whose "
                     "fibers are not listed" % (one.file, one.build))
    return chosen, lines
