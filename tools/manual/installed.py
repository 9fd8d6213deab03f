# SPDX-License-Identifier: Apache-2.0
"""Where share/doc/sennit has a file of the tree: see installed.txt.

usage: installed.py OUT - writes the pages and the examples into OUT as they are
installed. The links of a page, and the files that it names, are those of OUT.
"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Pages about the tree: they name its folders.
OF_TREE = ("ARCHITECTURE.md", "CONTRIBUTING.md")
# The pages of no folder that are installed.
TOP = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md")
PLACES = dict(line.split() for line in pathlib.Path(__file__).with_suffix(
    ".txt").read_text().splitlines() if line[:1] not in ("", "#"))
NAMED = re.compile(r"(?<![\w./-])(%s)(?![\w-]|\.\w)" % "|".join(
    map(re.escape, sorted(PLACES, key=len, reverse=True))))
LINK = re.compile(r"(?<=\]\()(\n?)([\w./-]+)(?=(?:#[^()\n ]*)?\))")


def place(path):
    """The place of a file or folder of the tree, as text."""
    path = pathlib.PurePosixPath(path)
    for folder in (path, *path.parents):
        if str(folder) in PLACES:
            return str(PLACES[str(folder)] / path.relative_to(folder))
    return str(path)


def text(written):
    """A text that names files of the tree, with their places."""
    return NAMED.sub(lambda found: PLACES[found[1]], written)


def below(where, pattern, root=ROOT):
    """The files of the tree that match the pattern and have their place below
    the folder `where`, each with its place, in the order of the places."""
    folders = [f for f, to in PLACES.items()
               if (to + "/").startswith(where + "/")] + [where]
    found = {p for f in folders for p in (root / f).rglob(pattern)}
    places = ((place(p.relative_to(root)), p) for p in found)
    return sorted(((to, p) for to, p in places if to.startswith(where + "/")),
                  key=lambda pair: pathlib.PurePosixPath(pair[0]))


def page(path):
    """The text of a page, a file of the tree, at its place."""
    here = os.path.dirname(place(path)) or "."

    def link(found):
        target = os.path.normpath(os.path.join(os.path.dirname(path),
                                               found[2]))
        # No name of a file of the tree, so that text() leaves it alone.
        return "%s./%s" % (found[1], os.path.relpath(place(target), here))

    written = LINK.sub(link, (ROOT / path).read_text())
    if path not in OF_TREE:
        written = text(written)
    return LINK.sub(lambda found: found[1] + os.path.normpath(found[2]),
                    written)


def write(out):
    files = {name: ROOT / name for name in TOP}
    for folder in ("docs", "examples"):
        files.update((to, path) for to, path in below(folder, "*")
                     if path.is_file() and path.name != "CMakeLists.txt" and
                     not to.startswith("docs/man/"))
    for to, path in files.items():
        (out / to).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            (out / to).write_text(page(path.relative_to(ROOT).as_posix()))
        else:
            (out / to).write_bytes(path.read_bytes())


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
