#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser.py PROGRAM.js TEST... - runs tests of the program of WebAssembly in
chromium. A page runs one of them, sends what it printed and its exit status,
and goes to the next one. Threads share memory only in pages that the server has
isolated, by two headers. Exits with 77 if there is no chromium."""
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM, TESTS = os.path.abspath(sys.argv[1]), sys.argv[2:]
LIMIT = 840  # seconds for all

PAGE = """<!doctype html><meta charset="utf-8"><title>tests</title><script>
const test = decodeURIComponent(location.search.slice(1));
let text = '', ended = false;
function say(line) { text += line + '\\n'; }
function end(status) {
	if (ended)
		return;
	ended = true;
	fetch('/ended', { method: 'POST',
		body: JSON.stringify({ test, status, text }) })
	.then(r => r.text()).then(next => {
		if (next)
			location.href = '/?' + encodeURIComponent(next);
	});
}
window.onerror = (what) => { say(what); end(-1); };
var Module = { arguments: [test], print: say, printErr: say, onExit: end,
	onAbort: (what) => { say('' + what); end(-2); } };
</script><script src="/%s"></script>
"""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.results = {}
        self.all_ended = threading.Event()


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=os.path.dirname(PROGRAM))

    def end_headers(self):
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def answer(self, text, kind):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/" or self.path.startswith("/?"):
            self.answer(PAGE % os.path.basename(PROGRAM), "text/html")
        else:
            super().do_GET()

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        result = json.loads(self.rfile.read(size))
        results = self.server.results
        results[result["test"]] = result
        left = [test for test in TESTS if test not in results]
        self.answer(left[0] if left else "", "text/plain")
        if not left:
            self.server.all_ended.set()

    def log_message(self, *args):
        pass


def run(chromium):
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    first = f"http://127.0.0.1:{server.server_port}/?{TESTS[0]}"
    # The browser may still write there when it is asked to end.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-port=0", f"--user-data-dir={profile}",
             first],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            give_up = time.monotonic() + LIMIT
            while not server.all_ended.wait(0.2):
                if browser.poll() is not None:
                    print("chromium has ended with", browser.returncode)
                    break
                if time.monotonic() > give_up:
                    print("not within", LIMIT, "seconds")
                    break
        finally:
            browser.terminate()
            browser.wait()
    return server.results


def main():
    chromium = shutil.which("chromium")
    if not chromium:
        print("no chromium")
        return 77
    results = run(chromium)
    failed = 0
    for test in TESTS:
        result = results.get(test, {"status": "none", "text": ""})
        held = result["status"] == 0 and "[  PASSED  ]" in result["text"]
        print("passed" if held else "FAILED", test)
        if not held:
            failed += 1
            print("status", result["status"])
            print(result["text"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
