# SPDX-License-Identifier: Apache-2.0
"""The program in README: for the tests here, and for those of packages."""
import re
import subprocess
import sys


def check(path):
    """Runs the program in the page at `path`; it must print what it should."""
    with open(path, encoding="utf-8") as readme:
        text = re.search(r"```python\n(.*?)```", readme.read(), re.S)[1]
    done = subprocess.run(
        [sys.executable, "-c", text], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=300, text=True, check=False)
    assert done.returncode == 0, done.stdout
    # The group may be cancelled before it says hello.
    said = [line for line in done.stdout.splitlines() if line != "hello"]
    assert said[0] == "(3, 2)" and "zero" in said[1], said
    assert said[2:] == [
        "[0, 1, 2]", "[1, 2, 4, 8, 16]", "b'hello'",
        "Selected(case=1, value='ready', closed=False)"], said
