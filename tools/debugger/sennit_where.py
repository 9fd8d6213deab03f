# SPDX-License-Identifier: Apache-2.0
"""In which function of the program a fiber is."""

import struct

from sennit_descriptor import Fault


def is_inside(name):
    """Whether a function of this name belongs to the library."""
    return bool(name) and name.startswith(("sn_", "sennit_", "arch_", "os_"))


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


def where(process, fiber, frames):
    """The innermost function of the program in the fiber's frames, which are
    (name, file, pc), innermost first. file is True in the library's file, False
    in another, None where the library is part of the program. There the
    innermost call of a public function counts: a frame of that function may be
    missing, because it has passed the rest on to another one."""
    is_behind = fiber.is_running  # libc's frames may come first
    first = None
    for name, file, pc in frames:
        first = first or name
        is_behind = is_behind or file
        if file is False and is_behind:
            return name or "??"
        if file is None and not is_inside(name):
            if fiber.is_running:
                return name or "??"
            callee = called_at(process, pc)
            called = process.target.function(callee) if callee else None
            if called and called.startswith("sennit_"):
                return name or "??"
    return first or "??"
