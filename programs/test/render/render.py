# SPDX-License-Identifier: Apache-2.0
"""Runs sennit-render, which $SENNIT_RENDER names."""
import os
import struct
import subprocess
import zlib

from program import equal

RENDER = os.environ["SENNIT_RENDER"]


def render(*arguments, status=0, **more):
    """Returns the messages."""
    done = subprocess.run([RENDER, *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=300, **more)
    equal(done.returncode, status, "status of %s: %s" %
          (arguments, done.stderr.decode()))
    return done.stderr.decode()


def predict(kind, left, up, corner):
    """The filters of PNG."""
    if kind < 4:
        return (0, left, up, (left + up) // 2)[kind]
    near = left + up - corner
    return min(((abs(near - left), 0, left), (abs(near - up), 1, up),
                (abs(near - corner), 2, corner)))[2]


def pixels(png):
    """Returns (width, height, bytes) of a PNG of 8-bit RGB."""
    equal(png[:8], b"\x89PNG\r\n\x1a\n", "signature")
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        equal(zlib.crc32(kind + body),
              struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0], kind)
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", body)
            equal(form, [8, 2, 0, 0, 0], "form")
        if kind == b"IDAT":
            data += body
        at += 12 + size
    data, out, above = zlib.decompress(data), b"", bytes(3 * width)
    for y in range(height):
        begin = y * (3 * width + 1)
        kind, row = data[begin], bytearray(
            data[begin + 1:begin + 1 + 3 * width])
        for x in range(3 * width):
            left, corner = (row[x - 3], above[x - 3]) if x >= 3 else (0, 0)
            row[x] = (row[x] + predict(kind, left, above[x], corner)) & 255
        out += row
        above = bytes(row)
    return width, height, out
