# SPDX-License-Identifier: Apache-2.0
"""Finds the port of a server that chose one."""
import os
import time


def listening_port(server, limit):
    """The TCP port at which the process listens, once it does; None if it has
    ended, or at the limit, which is a time of time.monotonic()."""
    while server.poll() is None and time.monotonic() < limit:
        owned = set()
        folder = "/proc/%d/fd/" % server.pid
        for fd in os.listdir(folder) if os.path.isdir(folder) else ():
            try:
                owned.add(os.readlink(folder + fd))
            except OSError:
                pass
        with open("/proc/net/tcp", encoding="ascii") as table:
            for line in list(table)[1:]:
                words = line.split()
                if words[3] == "0A" and "socket:[%s]" % words[9] in owned:
                    return int(words[1].split(":")[1], 16)
        time.sleep(0.02)
    return None
