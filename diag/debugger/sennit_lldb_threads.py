# SPDX-License-Identifier: Apache-2.0
"""The threads that show suspended fibers in lldb: see sennit_lldb.py."""

import struct

import sennit_fibers
import sennit_lldb

POINTER = {62: 16, 183: 32}  # DWARF's number of the pc
STACK = {62: 7, 183: 31}


class OperatingSystemPlugIn:
    """lldb calls these methods, of a class of this name."""

    def __init__(self, process):
        self.process = process
        self.infos = []
        machine = sennit_lldb.machine
        if machine not in sennit_fibers.REGISTERS:
            return
        pc, sp = sennit_fibers.PC_AND_SP[machine]
        for number, name in sennit_fibers.REGISTERS[machine].items():
            self.add(name, number, "fp" if name in ("rbp", "x29") else None)
        self.add(sp, STACK[machine], "sp")
        self.add(pc, POINTER[machine], "pc")

    def add(self, name, number, generic):
        info = {"name": name, "bitsize": 64, "offset": 8 * len(self.infos),
                "encoding": "uint", "format": "hex", "set": 0,
                "gcc": number, "ehframe": number, "dwarf": number}
        if generic:
            info["generic"] = generic
        self.infos.append(info)

    def get_register_info(self):
        return {"sets": ["saved"], "registers": self.infos}

    def get_thread_info(self):
        """The threads besides those of the system. None after the process has
        run."""
        if sennit_lldb.stop != sennit_lldb.stop_of(self.process):
            return []
        return [self.create_thread(tid, 0) for tid in sennit_lldb.shown]

    def create_thread(self, tid, _context):
        return {"tid": tid, "name": "fiber", "state": "stopped",
                "stop_reason": "none"}

    def get_register_data(self, tid):
        values = sennit_lldb.registers.get(tid, {})
        return b"".join(struct.pack("<Q", values.get(info["name"], 0))
                        for info in self.infos)
