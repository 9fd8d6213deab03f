#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sennit-httpd under a short load: no error, no lost answer."""
import re
import shutil
import subprocess

from server import Folder, check, httpd, need, run_all


def serving(*options):
    def decorate(test):
        def run():
            with Folder() as folder:
                folder.write("small.txt", "x" * 612)
                folder.write("large.bin", bytes(300000))
                with httpd(folder, *options) as server:
                    test(server, folder)
        run.__name__ = test.__name__
        return run
    return decorate


def wrk(server, path, *options):
    r = subprocess.run(
        ["wrk", "-t1", "-d1s", *options,
         "http://127.0.0.1:%d/%s" % (server.at, path)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    text = r.stdout.decode()
    check(r.returncode == 0, text)
    done = int(re.search(r"(\d+) requests in", text).group(1))
    check(done > 0, text)
    check("Socket errors" not in text and "Non-2xx" not in text, text)
    return done


@serving()
def wrk_sees_no_error(server, folder):
    need("wrk")
    wrk(server, "small.txt", "-c64")
    wrk(server, "large.bin", "-c8")
    wrk(server, "status", "-c8")


@serving()
def wrk_sees_no_error_with_pipelining(server, folder):
    need("wrk")
    script = folder.write("pipeline.lua", """
init = function(args)
	local r = {}
	for i = 1, 16 do
		r[i] = wrk.format(nil, i % 4 == 0 and "/large.bin" or
			"/small.txt")
	end
	request_ = table.concat(r)
end
request = function() return request_ end
""")
    wrk(server, "small.txt", "-c16", "-s", script)


@serving("--access-log", "/dev/null")
def wrk_sees_no_error_with_a_log(server, folder):
    need("wrk")
    wrk(server, "small.txt", "-c64")


@serving()
def h2load_sees_no_error(server, folder):
    need("h2load")
    r = subprocess.run(
        ["h2load", "--h1", "-n2000", "-c20", "-m4",
         "http://127.0.0.1:%d/small.txt" % server.at,
         "http://127.0.0.1:%d/large.bin" % server.at],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    text = r.stdout.decode()
    check("2000 succeeded, 0 failed, 0 errored" in text, text)


if __name__ == "__main__":
    if not shutil.which("wrk") and not shutil.which("h2load"):
        need("wrk")
    run_all([wrk_sees_no_error, wrk_sees_no_error_with_pipelining,
             wrk_sees_no_error_with_a_log, h2load_sees_no_error])
