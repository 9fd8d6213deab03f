#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The file is the same with 1, 2 and 8 workers, its pixels are those of a plain
loop ($SENNIT_SERIAL), and these are the same on every machine."""
import hashlib
import os
import subprocess

from program import equal, in_folder
from render import pixels, render

SUM = "cfc0fc0fb3c758cb01e5d45bb5964b28bbfb6c20b7ae02bd5fb05cecc3bf4fe7"


def same():
    wanted = subprocess.run([os.environ["SENNIT_SERIAL"], "160", "100", "2"],
                            capture_output=True, check=True).stdout
    equal(hashlib.sha256(wanted).hexdigest(), SUM, "SHA-256 of the pixels")
    for workers in "1", "2", "8":
        render("-s", "160x100", "-j", workers, workers + ".png")
    files = [open(n + ".png", "rb").read() for n in "128"]
    equal(files[1], files[0], "two workers")
    equal(files[2], files[0], "eight workers")
    equal(pixels(files[0]), (160, 100, wanted), "pixels")
    render("-s", "1x1", "-a", "16", "1.png")
    equal(pixels(open("1.png", "rb").read())[:2], (1, 1), "one pixel")


in_folder(same)
