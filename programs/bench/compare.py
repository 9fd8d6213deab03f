# SPDX-License-Identifier: Apache-2.0
"""Runs commands in turn, several rounds, and prints a table: CPU time (user and
system) and wall-clock time of each, as median, least and most, and the median
of the ratios to the first command of the same round."""
import os
import statistics
import subprocess
import time


def once(command, output):
    """Returns (seconds of CPU, seconds of wall-clock time)."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begin
    if child.returncode not in (0, 1):
        raise SystemExit("%s: status %d" % (command[0], child.returncode))
    return usage.ru_utime + usage.ru_stime, wall


def compare(title, commands, rounds, output=subprocess.DEVNULL):
    """commands: {name: list}. The first is what the others are compared to."""
    times = {name: [] for name in commands}
    for name in commands:
        once(commands[name], output)  # warms up the page cache
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(once(command, output))
    first = times[next(iter(commands))]
    for name in commands:
        cells = [title, name]
        for kind in 0, 1:
            values = [t[kind] for t in times[name]]
            ratio = statistics.median(
                t[kind] / f[kind] for t, f in zip(times[name], first))
            cells += ["%.3f" % v for v in (statistics.median(values),
                                           min(values), max(values))]
            cells.append("%.3f" % ratio)
        print("\t".join(cells), flush=True)


def head():
    print("# %d CPUs, load %.1f" % (os.cpu_count(), os.getloadavg()[0]))
    print("# seconds of CPU, then wall-clock: median, least, most, ratio")
    print("\t".join(["work", "program", "cpu", "min", "max", "ratio", "wall",
                     "min", "max", "ratio"]))
