# SPDX-License-Identifier: Apache-2.0
"""Adds to a core file of gdb's gcore what gcore has left out.

gcore reads a mapping from its beginning. Where it meets a page that it cannot
read, such as the guard page of a stack, it leaves the rest of the mapping as a
hole in the file.
"""

import os
import struct

from sennit_descriptor import Fault

LOAD = 1
PAGE_BYTES = 8         # of /proc/PID/pagemap for each page
PRESENT = 3 << 62      # in memory or swapped out
MOST_PAGES = 1 << 16   # whose entries are read at once


def segments(file):
    """(address, offset in the file, size) of each segment."""
    head = file.read(64)
    if head[:6] != b"\x7fELF\x02\x01":
        raise Fault("fiber gcore: the core file is not of ELF, 64 bits")
    at, = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<2H", head, 54)
    if count == 0xffff:  # the number is in section 0
        file.seek(struct.unpack_from("<Q", head, 40)[0] + 44)
        count, = struct.unpack("<I", file.read(4))
    file.seek(at)
    for _ in range(count):
        kind, _, offset, address, _, length, _, _ = struct.unpack_from(
            "<2I6Q", file.read(size))
        if kind == LOAD:
            yield address, offset, length


def present(pagemap, start, end):
    """The pages between the addresses that are not empty, as runs."""
    page = os.sysconf("SC_PAGE_SIZE")
    run = None
    for first in range(start, end, MOST_PAGES * page):
        count = min(MOST_PAGES, (end - first) // page)
        data = os.pread(pagemap, count * PAGE_BYTES,
                        first // page * PAGE_BYTES)
        for i, (entry,) in enumerate(struct.iter_unpack("<Q", data)):
            at = first + i * page
            if entry & PRESENT and run is None:
                run = at
            elif not entry & PRESENT and run is not None:
                yield run, at
                run = None
    if run is not None:
        yield run, end


def copy(memory, file, start, end, offset):
    """Copy the readable part of the run. Returns the number of bytes."""
    page = os.sysconf("SC_PAGE_SIZE")
    copied = 0
    for at in range(start, end, 256 * page):
        most = min(end, at + 256 * page)
        try:
            data = os.pread(memory, most - at, at)
        except OSError:
            data = b""
        file.seek(offset + at - start)
        file.write(data)
        copied += len(data)
    return copied


def complete(name, pid, process):
    """Write all pages of the mappings that fibers' stacks are in. Returns the
    number of bytes."""
    for _ in process.fibers():
        pass  # reads all records
    copied = 0
    try:
        with open(name, "r+b") as file, \
                open("/proc/%d/mem" % pid, "rb", buffering=0) as memory, \
                open("/proc/%d/pagemap" % pid, "rb", buffering=0) as pagemap:
            for start, offset, size in list(segments(file)):
                if not any(start <= record < start + size
                           for record in process.records):
                    continue
                for run, end in present(pagemap.fileno(), start, start + size):
                    copied += copy(memory.fileno(), file, run, end,
                                   offset + run - start)
    except OSError as problem:
        raise Fault("fiber gcore: %s" % problem) from None
    return copied
