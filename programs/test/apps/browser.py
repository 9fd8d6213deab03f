#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A page with a style, a script, pictures and a request of its own, as Chromium
loads it from sennit-httpd. With $SENNIT_SCREENSHOT the page is drawn there."""
import os
import shutil
import struct
import subprocess
import zlib

from server import Folder, check, httpd, run_all, skip

PAGE = """<!DOCTYPE html>
<html><head><title>a page</title>
<link rel="stylesheet" href="style.css?v=1">
</head><body>
<h1 id="title">served by fibers</h1>
<img id="png" src="pictures/red.png" width="120" height="60">
<img id="svg" src="pictures/circle.svg" width="60" height="60">
<pre id="out">nothing yet</pre>
<script src="code.js"></script>
</body></html>
"""

CODE = """
window.addEventListener('load', async () => {
  const style = getComputedStyle(document.getElementById('title'));
  const status = await (await fetch('/status')).json();
  const posted = await (await fetch('/status',
    {method: 'POST', body: 'x'.repeat(70000)})).json();
  const part = await fetch('code.js', {headers: {Range: 'bytes=0-6'}});
  const missing = await fetch('missing');
  document.getElementById('out').textContent = [
    'color=' + style.color,
    'png=' + document.getElementById('png').naturalWidth,
    'svg=' + document.getElementById('svg').complete,
    'server=' + status.server,
    'received=' + posted.received,
    'range=' + part.status + ':' + (await part.text()).trim(),
    'missing=' + missing.status].join('\\n');
});
"""


def png(width, height, color):
    def chunk(kind, data):
        body = kind + data
        return (struct.pack(">I", len(data)) + body +
                struct.pack(">I", zlib.crc32(body)))

    rows = (b"\0" + bytes(color) * width) * height
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0,
                                       0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def fill(folder):
    folder.write("index.html", PAGE)
    folder.write("style.css", "#title { color: rgb(0, 128, 64); }\n"
                 "body { background: #eef; font-family: sans-serif; }\n")
    folder.write("code.js", CODE)
    folder.write("pictures/red.png", png(120, 60, (200, 30, 30)))
    folder.write("pictures/circle.svg",
                 '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10">'
                 '<circle cx="5" cy="5" r="4" fill="navy"/></svg>')


def browse(server, home, *options):
    r = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--user-data-dir=" + home,
         "--window-size=600,400", "--virtual-time-budget=8000", *options,
         "http://127.0.0.1:%d/" % server.at],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=90)
    return r.stdout.decode("utf-8", "replace"), r


def a_browser_loads_the_whole_page():
    with Folder() as folder, Folder() as home:
        fill(folder)
        with httpd(folder) as server:
            dom, r = browse(server, home.name, "--dump-dom")
            if not dom and r.returncode:
                skip("chromium does not start here: %s" % r.stderr[-300:])
            for line in ("color=rgb(0, 128, 64)", "png=120", "svg=true",
                         "server=sennit-httpd", "received=70000",
                         "range=206:window", "missing=404"):
                check(line in dom, line, "is not in", dom)
            picture = os.environ.get("SENNIT_SCREENSHOT")
            if picture:
                browse(server, home.name, "--screenshot=" + picture)
                check(os.path.getsize(picture) > 0)


if __name__ == "__main__":
    if not shutil.which("chromium"):
        skip("no chromium")
    run_all([a_browser_loads_the_whole_page])
