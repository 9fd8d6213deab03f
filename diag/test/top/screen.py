# SPDX-License-Identifier: Apache-2.0
"""screen.py - sennit-top on a terminal, driven in tmux: what it shows, keys,
other sizes, and the end of the program."""
import atexit
import os
import re
import shutil
import subprocess

import stage
from stage import check, soon

if not shutil.which("tmux"):
    stage.skip("tmux not found")

SERVER = os.path.join(stage.folder, "tmux")


def tmux(*arguments):
    done = subprocess.run(["tmux", "-S", SERVER, "-f", "/dev/null",
                           *arguments], capture_output=True, text=True,
                          timeout=stage.GIVE_UP,
                          env=dict(os.environ, LC_ALL="C.UTF-8"))
    return done.stdout


def screen():
    return tmux("capture-pane", "-p", "-t", "it")


def press(*keys):
    tmux("send-keys", "-t", "it", *keys)


def shows(*words):
    soon(lambda: all(re.search(word, screen()) for word in words),
         "the screen shows %s:\n%s" % (words, screen()))


atexit.register(tmux, "kill-server")
shown = stage.start()
tmux("new-session", "-d", "-s", "it", "-x", "100", "-y", "40",
     "%s -d 0.1 %d; echo status $?; exec cat" % (stage.TOP, shown.pid))

shows(r"shown, process %d" % shown.pid, r"scheduler stage: 2 threads",
      r"hot one \(", r'long\\x1b\[2J "waiter"', r"sleeper",
      r"workers by index", r"WORKER")

# Keys change the order.
press("b")
shows(r"workers by busy")
rows = [line.split() for line in screen().splitlines()
        if re.match(r" +[01] +\d+ ", line)]
check(len(rows) == 2, "two workers")
check([row[2] for row in rows] == ["busy", "asleep"],
      "the busy worker first: %s" % rows)
press("n")
shows(r"tasks by name")

# A pause stops the times of waiters; the end of it lets them go on.
press("Space")
shows(r"PAUSED")
still = screen()
press("i")
shows(r"workers by index")
check(re.findall(r"[\d.]+ s left", screen()) ==
      re.findall(r"[\d.]+ s left", still), "nothing moves in a pause")
press("Space")
soon(lambda: "PAUSED" not in screen(), "the pause ends")

# A small terminal shows the first lines, and others after scrolling.
tmux("resize-window", "-t", "it", "-x", "50", "-y", "8")
soon(lambda: re.search(r"workers by index", screen().splitlines()[-1]) and
     "event 0x" not in screen(), "the small screen ends with the keys")
for _ in range(6):
    press("NPage")
soon(lambda: re.search("event 0x|end of its sleep", screen()),
     "the last lines after scrolling")
tmux("resize-window", "-t", "it", "-x", "120", "-y", "45")
for _ in range(8):
    press("PPage")
shows(r"shown, process", r"sleeper")

# The end of the program ends sennit-top, and the terminal is whole again.
check(stage.stop(shown) == 0, "the program ends well")
shows(r"the program or its live view has ended", r"status 1")

# q quits.
shown = stage.start()
tmux("respawn-pane", "-k", "-t", "it",
     "%s %s; echo status $?; exec cat" % (stage.TOP, stage.path))
shows(r"hot one")
press("q")
shows(r"status 0")
