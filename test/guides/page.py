#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# page.py - the programs in a guide are those of examples, and print what the
# guide says.
#
# usage: page.py check PAGE FILE COMMAND...
#        page.py whole PAGE FOLDER
#        page.py parts ROOT PAGE...
#        page.py fill PAGE FOLDER
#
# A guide shows a program in a block marked ```c or ```cpp that begins with the
# comment that names the file, without the line of the licence. It may leave out
# main, at the end, and program() that main passes to sennit_main(). A block marked ```text that follows is what the program
# prints. <x>_before is another program that prints the same; the page links to
# it.
#
# check  the page shows FILE, and COMMAND prints what stands below it and ends
#        with 0.
# whole  each block of code of the page is a file of FOLDER, and each file of
#        FOLDER is in the page.
# parts  each block of code of the pages is taken from a file of the folders
#        examples and test, except for layout. A line "..." stands for what is
#        left out. For pages that do not show programs whole.
# fill   writes the files of FOLDER into the page, over what it has of them. Use
#        it after a program changed.
import os
import re
import subprocess
import sys

CODE = re.compile(r"(?ms)^```(?:c|cpp)\n(.*?)^```\n")
NAME = re.compile(r"/\* ([\w.]+) - ")
PRINTED = re.compile(r"(?ms)\A\n(?:[^#`\n][^\n]*\n+)*?```text\n(.*?)^```\n")
PEER = "_before."
MAIN = "int main("
ENTRY = re.compile(r"\n(?:int main\(|static int (?:run_)?program\(void \*unused\))")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def source(path, block):
    """What the block must be: the file without the line of the licence, and
    without main, and the function that sennit_main calls, if the block has
    none."""
    text = "".join(line for line in read(path).splitlines(True)
                   if "SPDX-License-Identifier" not in line)
    return text if MAIN in block else ENTRY.split(text)[0]


def name_of(block):
    m = NAME.match(block)
    return m[1] if m else None


def stem(name):
    return name.split(".")[0]


def shown_for(page, name):
    """The block that shows the program, or the one that it is compared with."""
    if PEER not in name:
        return [m for m in CODE.finditer(page) if name_of(m[1]) == name]
    if "/%s)" % name not in page:
        return []
    return [m for m in CODE.finditer(page)
            if stem(name_of(m[1])) + PEER == stem(name) + "."]


def check(page, file, command):
    name = os.path.basename(file)
    found = shown_for(page, name)
    if len(found) != 1:
        return "the page shows %s %d times" % (name, len(found))
    if PEER not in name and found[0][1] != source(file, found[0][1]):
        return "%s is another in the page: run page.py fill" % name
    printed = PRINTED.match(page[found[0].end():])
    if not printed:
        return "the page does not say what %s prints" % name
    run = subprocess.run(command, stdout=subprocess.PIPE, timeout=600,
                         check=False)
    if run.returncode:
        return "%s ends with %d" % (name, run.returncode)
    said = run.stdout.decode(errors="replace")
    if said != printed[1]:
        return "%s prints\n%s--- in the page:\n%s" % (name, said, printed[1])
    return None


def whole(page_name, page, folder):
    names = sorted(n for n in os.listdir(folder)
                   if n.endswith((".c", ".cpp")) and PEER not in n)
    shown = [name_of(m[1]) for m in CODE.finditer(page)]
    if sorted(shown, key=str) != names:
        return "%s shows %s, and %s has %s" % (page_name, shown, folder, names)
    for m in CODE.finditer(page):
        if m[1] != source(os.path.join(folder, name_of(m[1])), m[1]):
            return "%s is another in the page: run page.py fill" % (
                name_of(m[1]))
    return None


def plain(code):
    return " ".join(code.split())


def parts(root, pages):
    files = [plain(read(os.path.join(path, name)))
             for folder in ("examples", "test")
             for path, _, names in os.walk(os.path.join(root, folder))
             for name in names if name.endswith((".c", ".cpp"))]
    for page_name in pages:
        for m in CODE.finditer(read(page_name)):
            for part in re.split(r"(?m)^\s*\.\.\.$", m[1]):
                if not any(plain(part) in file for file in files):
                    return "%s: no example or test has\n%s" % (
                        page_name, part)
    return None


def fill(page_name, page, folder):
    def filled(m):
        name = name_of(m[1])
        path = os.path.join(folder, name or "")
        if not name or not os.path.exists(path):
            return m[0]
        return m[0].split("\n", 1)[0] + "\n" + source(path, m[1]) + "```\n"

    with open(page_name, "w", encoding="utf-8") as f:
        f.write(CODE.sub(filled, page))


def main():
    mode, page_name, subject = sys.argv[1:4]
    if mode == "check":
        fault = check(read(page_name), subject, sys.argv[4:])
    elif mode == "whole":
        fault = whole(page_name, read(page_name), subject)
    elif mode == "parts":
        fault = parts(page_name, sys.argv[3:])
    else:
        fault = fill(page_name, read(page_name), subject)
    if fault:
        print(fault)
        sys.exit(1)


main()
