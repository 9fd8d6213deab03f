# SPDX-License-Identifier: Apache-2.0
"""The programs in README: for the tests here, and for those of packages."""
import re
import subprocess
import sys


def blocks(path, kind):
    """The blocks of a kind in the page at `path`."""
    with open(path, encoding="utf-8") as readme:
        return re.findall(rf"^```{kind}\n(.*?)^```", readme.read(),
                          re.S | re.M)


def output(text):
    """What the program prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=300, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def check(path):
    """Runs the programs in the page; they must print what they should."""
    first, *same = blocks(path, "python")
    (printed,) = blocks(path, "text")
    assert len(same) == 2
    for text in same:
        said = output(text)
        assert said == printed, said
    # The group may be cancelled before it says hello.
    said = [line for line in output(first).splitlines() if line != "hello"]
    assert said[0] == "(3, 2)" and "zero" in said[1], said
    assert said[2:] == [
        "[0, 1, 2]", "[1, 2, 4, 8, 16]", "b'hello'",
        "Selected(case=1, value='ready', closed=False)"], said
