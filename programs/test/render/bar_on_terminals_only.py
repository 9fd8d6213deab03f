#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bar is drawn on a terminal, in place, and ends full. There is none where
standard error is no terminal."""
import os
import re
import subprocess

from program import check, equal, in_folder
from render import RENDER, render


def read_all(terminal):
    out = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            return out
        if not more:
            return out
        out += more


def bar():
    equal(render("-s99x99", "a.png"), "", "no terminal")
    ours, its = os.openpty()
    child = subprocess.Popen([RENDER, "-s99x99", "a.png"], stderr=its)
    os.close(its)
    shown = read_all(ours).decode()
    os.close(ours)
    equal(child.wait(timeout=100), 0, "status")
    check(shown.startswith("\r[") and shown.endswith("] 100%\r\n"), repr(shown))
    shares = [int(n) for n in re.findall(r"\r\[[#.]{40}\] +(\d+)%", shown)]
    equal(shares, sorted(shares), "shares")
    equal(shown.count("\n"), 1, "lines")


in_folder(bar)
