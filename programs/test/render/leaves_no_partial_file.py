#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, a full disk and wrong options leave no file, and what was there is as
it was."""
import os
import resource
import signal

from program import check, end_by_signal, equal, in_folder
from render import RENDER, render


def interrupted():
    open("a.png", "w").close()
    for number in signal.SIGINT, signal.SIGTERM:
        end_by_signal(number, RENDER, "-j2", "-s8192x8192", "-a16", "a.png")
        equal(os.path.getsize("a.png"), 0, "size")


def failed():
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    said = render("-s50x50", "a.png", status=1, preexec_fn=limit,
                  restore_signals=False)
    check("a.png: File too large" in said, said)
    check("No such file" in render("-s9x9", "no/a.png", status=1), "no folder")
    for wrong in [], ["a", "b"], ["-s0x5", "a"], ["-s5", "a"], \
            ["-s5x8193", "a"], ["-s5x5x", "a"], ["-a17", "a"], ["-j0", "a"], \
            ["-j257", "a"], ["-q", "a"]:
        check(render(*wrong, status=2), wrong)
    equal(os.listdir(), [], "left behind")
    os.umask(0o027)
    render("-s9x9", "b.png")
    equal(os.stat("b.png").st_mode & 0o777, 0o640, "mode")
    check(not render("--help"), "help")


in_folder(interrupted, failed)
