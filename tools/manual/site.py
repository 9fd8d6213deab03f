#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""site.py OUT - writes the documentation as HTML: the guides by cmark-gfm, the
manual by mandoc, and the headers and examples. Each has the same list of pages
beside it, and a search that needs no server. OUT/index.html is the first page.

Fails if a link leads nowhere.
"""

import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import installed  # noqa: E402
import pages  # noqa: E402

ROOT = pages.ROOT
HERE = pathlib.Path(__file__).parent
GUIDES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md",
          "SECURITY.md")
BELOW = (("docs", "*.md"), ("include", "*.h*"), ("examples", "*.[ch]"),
         ("examples", "*.cpp"), ("examples", "*.go"))
TEMPLATE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title} - sennit</title>
<link rel="stylesheet" href="{up}style.css"></head>
<body><input id="menu" type="checkbox"><label for="menu">Pages</label>
<nav><a class="name" href="{up}index.html">sennit</a>
<span class="version">{version}</span>
<input id="search" type="search" placeholder="Search" autocomplete="off">
<ol id="found"></ol>
{nav}</nav>
<main>{body}</main>
<script>var up = "{up}";</script><script src="{up}index.js"></script>
<script src="{up}search.js"></script></body></html>
"""


def run(command, text=None, folder=None):
    return subprocess.run(command, input=text, cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout


def plain(markup):
    text = re.sub(r"<[^>]*>", " ", markup)
    return " ".join(html.unescape(text).split())


def slug(heading):
    """The name that readers of Markdown give a heading."""
    return re.sub(r"[^\w\- ]", "", plain(heading).lower()).replace(" ", "-")


def place(path):
    """Where the page of a file of the tree lies: as the file itself below
    share/doc/sennit."""
    path = installed.place(path)
    if path == "README.md":
        return "index.html"
    return path[:-3] + ".html" if path.endswith(".md") else path + ".html"


class Site:
    def __init__(self, out):
        self.out = out
        self.manual = pages.Manual()
        links = re.findall(r"\]\(([^)#:]+\.md)",
                           (ROOT / "docs/README.md").read_text())
        self.order = {os.path.normpath("docs/" + link): number
                      for number, link in reversed(list(enumerate(links)))}
        self.pages = {}  # by its place: title, body
        self.index = []  # for the search: title, place, kind, text
        self.files = [pathlib.Path(name) for name in GUIDES
                      if (ROOT / name).exists()]
        self.files += [path.relative_to(ROOT) for where, pattern in BELOW
                       for name, path in installed.below(where, pattern)
                       if "/compat/" not in name]

    def add(self, where, title, body, kind):
        self.pages[where] = (title, body)
        self.index.append([title, where, kind, plain(body).lower()])

    def rank(self, path):
        """Guides stand in the order of docs/README.md, others after them."""
        return self.order.get(str(path), len(self.order))

    # --- guides ---------------------------------------------------------

    def guide(self, path):
        body = run(["cmark-gfm", "-e", "table", "-e", "autolink"],
                   (ROOT / path).read_text())
        first = re.search(r"<h1>(.*?)</h1>", body)
        title = plain(first.group(1)) if first else path.stem
        where = place(path)

        def heading(found):
            name = slug(found.group(2))
            if found.group(1) != "1":
                self.index.append(["%s: %s" % (title, plain(found.group(2))),
                                   where + "#" + name, "guide", ""])
            return '<h%s id="%s">%s</h%s>' % (found.group(1), name,
                                              found.group(2), found.group(1))

        body = re.sub(r"<h(\d)>(.*?)</h\1>", heading, body)
        body = re.sub(r'<a href="([^"]*)">(.*?)</a>',
                      lambda f: self.link(path, *f.groups()), body,
                      flags=re.S)
        body = re.sub(r'<img src="([^"]*)"',
                      lambda f: '<img src="%s"' % self.picture(path,
                                                               f.group(1)),
                      body)
        if str(path) not in installed.OF_TREE:
            body = installed.text(body)
        self.add(where, title, self.mark(body, where), "guide")

    def link(self, path, target, text):
        """A link of a guide. What is not on the site becomes plain text."""
        if re.match(r"\w+:|#", target):
            return '<a href="%s">%s</a>' % (target, text)
        target, _, name = target.partition("#")
        there = pathlib.Path(os.path.normpath(path.parent / target))
        if (ROOT / there).is_dir():
            where = installed.place(there) + "/list.html"
            if where not in self.lists:
                return text
        elif there not in self.files:
            return text
        else:
            where = place(there)
        where = os.path.relpath(where, pathlib.Path(place(path)).parent)
        return '<a href="%s%s">%s</a>' % (where, name and "#" + name, text)

    def picture(self, path, source):
        source = os.path.normpath(path.parent / source)
        there = installed.place(source)
        target = self.out / there
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / source).read_bytes())
        return os.path.relpath(there, pathlib.Path(place(path)).parent)

    def mark(self, body, where):
        """The names of calls in code become links to their pages."""
        up = "../" * where.count("/")

        def call(found):
            name = found.group(0)
            if name not in self.manual.calls:
                return name
            return '<a href="%sman/%s.3.html">%s</a>' % (up, name, name)

        def block(found):
            if "<a " in found.group(0):
                return found.group(0)
            return re.sub(r"\bsennit_\w+\b", call, found.group(0))

        return re.sub(r"<(code|pre)[ >].*?</\1>", block, body, flags=re.S)

    # --- files ----------------------------------------------------------

    def file(self, path):
        text = installed.text((ROOT / path).read_text())
        text = re.sub(r"^/\* SPDX.*?\n", "", text)
        about = re.search(r"^/\* \S+ - (.*?)(?:[.:]\s|\n \*\n|\*/)", text,
                          re.S)
        code = html.escape(text, quote=False)
        code = re.sub(r"(/\*.*?\*/|//[^\n]*)", r"<i>\1</i>", code,
                      flags=re.S)
        name = installed.place(path)
        body = "<h1>%s</h1>\n<pre>%s</pre>" % (name, code)
        kind = "example" if name.startswith("examples/") else "header"
        self.add(place(path), name, self.mark(body, place(path)), kind)
        return re.sub(r"\n \* ", " ", about.group(1)) if about else ""

    def list(self, folder, abouts):
        """The page of a folder."""
        rows = ""
        for path in self.files:
            name = installed.place(path)
            if name.startswith(folder + "/"):
                where = os.path.relpath(place(path), folder)
                rows += '<tr><td><a href="%s">%s</a></td><td>%s</td></tr>\n' \
                    % (where, os.path.relpath(name, folder),
                       html.escape(abouts.get(path, "")))
        self.add(folder + "/list.html", folder,
                 "<h1>%s</h1>\n<table>%s</table>" % (folder, rows), "list")

    # --- the manual -----------------------------------------------------

    def manuals(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            names = []
            for name, lines in self.manual.pages():
                (folder / ("man" + name[-1])).mkdir(exist_ok=True)
                (folder / ("man" + name[-1]) / name).write_text(
                    "\n".join(lines) + "\n")
                names.append(name)
            for name in names:
                self.man(name, run(
                    ["mandoc", "-Thtml", "-Ofragment,man=%N.%S.html",
                     "man%s/%s" % (name[-1], name)], folder=folder))

    def man(self, name, body):
        title = "%s(%s)" % tuple(name.rsplit(".", 1))
        body = re.sub(r'<table class="(head|foot)">.*?</table>', "", body,
                      flags=re.S)
        body = re.sub(r'<a class="Xr" href="(?!sennit[._])[^"]*"[^>]*>(.*?)'
                      r'</a>', r"\1", body, flags=re.S)
        body = re.sub(r'<a class="permalink"[^>]*>(.*?)</a>', r"\1", body,
                      flags=re.S)
        body = re.sub(r'<span class="Pa">(examples/[^<]*)</span>',
                      r'<a href="../\1.html">\1</a>', body)
        body = self.mark("<h1>%s</h1>\n%s" % (title, body),
                         "man/" + name + ".html")
        self.add("man/" + name + ".html", title, body,
                 "call" if name.endswith("3") else "overview")

    # --- all of it ------------------------------------------------------

    def navigation(self, where):
        up = "../" * where.count("/")

        def rows(title, places):
            items = "".join(
                "<li%s><a href=\"%s%s\">%s</a></li>" % (
                    " class=here" if p == where else "", up, p,
                    html.escape(name)) for p, name in places)
            opened = " open" if any(p == where for p, _ in places) or \
                title in ("Guides", "libsennit") else ""
            return "<details%s><summary>%s</summary><ul>%s</ul></details>" % (
                opened, title, items)

        guides = [(place(p), self.pages[place(p)][0])
                  for p in sorted(self.files, key=self.rank)
                  if p.suffix == ".md"]
        out = rows("Guides", [("examples/list.html", "Examples")] + [
            g for g in guides if "/design/" not in g[0]])
        out += rows("Manual", [("man/%s.html" % n, "%s(%s)" % (n[:-2], n[-1]))
                               for n in self.manual.guides])
        for library in pages.LIBRARIES:
            out += rows(library, [
                ("man/sennit_%s.7.html" % h.stem, h.path)
                for h in self.manual.headers if h.library == library])
        out += rows("Classes for C++", [
            ("man/sennit_cpp_%s.7.html" % h.stem, h.path)
            for h in self.manual.classes])
        return out + rows("Design", [g for g in guides if "/design/" in g[0]])

    def write(self):
        self.lists = {"examples/list.html", "include/list.html",
                      "docs/design/list.html"}
        abouts = {}
        for path in self.files:
            if path.suffix == ".md":
                self.guide(path)
                abouts[path] = self.pages[place(path)][0]
            else:
                abouts[path] = self.file(path)
        for where in sorted(self.lists):
            self.list(where[:-len("/list.html")], abouts)
        self.manuals()
        for where, (title, body) in self.pages.items():
            path = self.out / where
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TEMPLATE.format(
                title=html.escape(title), up="../" * where.count("/"),
                nav=self.navigation(where), body=body,
                version=self.manual.fixed["version"]))
        (self.out / "index.js").write_text(
            "var pages = " + json.dumps(self.index, indent=0) + ";\n")
        for name in ("style.css", "search.js"):
            (self.out / name).write_bytes((HERE / name).read_bytes())

    def broken(self):
        """Links that lead nowhere."""
        names = {}
        for path in self.out.rglob("*.html"):
            names[path] = set(re.findall(r'\bid="([^"]*)"', path.read_text()))
        for path in sorted(names):
            for target in re.findall(r'(?:href|src)="([^"]*)"',
                                     path.read_text()):
                if re.match(r"\w+:", target):
                    continue
                target, _, name = html.unescape(target).partition("#")
                there = pathlib.Path(os.path.normpath(path.parent / target)) \
                    if target else path
                if not there.exists() or name and there in names and \
                        name not in names[there]:
                    yield "%s: %s#%s" % (path.relative_to(self.out), target,
                                         name)


def main(out):
    site = Site(pathlib.Path(out))
    site.write()
    broken = list(site.broken())
    if broken:
        sys.exit("links that lead nowhere:\n" + "\n".join(broken))
    print("%d pages: %s/index.html" % (len(site.pages), out))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
