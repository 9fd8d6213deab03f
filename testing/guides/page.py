#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# page.py - the code in a guide is taken from tested programs, which print what
# the guide says.
#
# usage: page.py check PAGE FILE COMMAND...
#        page.py parts ROOT PAGE...
#
# A guide shows the parts of a program that matter, in blocks marked ```c or
# ```cpp below a link to the program. A line "..." stands for what is left out.
# The next block marked ```text of the section is what the program prints.
# <x>_before is another program that prints the same; the page links to it, too.
#
# check  the page links to FILE, and COMMAND prints what stands below the link
#        and ends with 0.
# parts  each block of code of the pages is taken from a file of docs, or of the
#        folders examples and test of a product, except for layout.
import glob
import os
import re
import subprocess
import sys

CODE = re.compile(r"(?ms)^```(?:c|cpp)\n(.*?)^```\n")
SECTION = re.compile(r"(?m)^##+ ")
PRINTED = re.compile(r"(?ms)^```text\n(.*?)^```\n")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def promised(page, name):
    """What the page says that the program prints, or None."""
    for section in SECTION.split(page):
        _, link, rest = section.partition("/%s)" % name)
        printed = PRINTED.search(rest)
        if link and printed:
            return printed[1]
    return None


def check(page, file, command):
    name = os.path.basename(file)
    printed = promised(page, name)
    if printed is None:
        return "the page has no link to %s with its output below" % name
    run = subprocess.run(command, stdout=subprocess.PIPE, timeout=600,
                         check=False)
    if run.returncode:
        return "%s ends with %d" % (name, run.returncode)
    said = run.stdout.decode(errors="replace")
    if said != printed:
        return "%s prints\n%s--- in the page:\n%s" % (name, said, printed)
    return None


def plain(code):
    return " ".join(code.split())


def parts(root, pages):
    files = [plain(read(os.path.join(path, name)))
             for folder in ("docs", "*/examples", "*/test")
             for top in glob.glob(os.path.join(root, folder))
             for path, _, names in os.walk(top)
             for name in names if name.endswith((".c", ".cpp"))]
    for page_name in pages:
        for m in CODE.finditer(read(page_name)):
            for part in re.split(r"(?m)^\s*\.\.\.$", m[1]):
                if not any(plain(part) in file for file in files):
                    return "%s: no example or test has\n%s" % (
                        page_name, part)
    return None


def main():
    mode, subject = sys.argv[1:3]
    if mode == "check":
        fault = check(read(subject), sys.argv[3], sys.argv[4:])
    else:
        fault = parts(subject, sys.argv[3:])
    if fault:
        print(fault)
        sys.exit(1)


main()
