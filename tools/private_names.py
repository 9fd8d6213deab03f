# SPDX-License-Identifier: Apache-2.0
"""private_names - which names a .c file or a header of src/ has for itself, and
its text with other names for them. For tools/amalgamate. It knows as much C as
the tree uses: no preprocessor runs, so both branches of an #if count."""
import functools
import os
import re
import sys

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOKEN = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*"
    r"|\.?\d(?:[eEpP][+-]|[\w.])*|->|\.\.\.|\s+|.", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M | re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"(.*)"|<(.*)>)', re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)", re.M)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)")
WORD = re.compile(r"[A-Za-z_]\w*\Z")
TAGGED = ("struct", "union", "enum")
SPECIFIERS = ("__attribute__", "_Atomic", "_Alignas", "const", "volatile")
COMMENT = ("/*", "//")


# Of builds with SENNIT_END=count, which no single file has.
LEFT_OUT = ["core/gate_count.h"]


def fail(message):
    sys.exit("amalgamate: %s" % message)


@functools.lru_cache(maxsize=None)
def read(path):
    with open(os.path.join(TREE, path), encoding="utf-8") as file:
        return file.read()


def places(name):
    """The file that `#include "name"` finds; none if it is left out."""
    if name in LEFT_OUT:
        return []
    return [("include/" if name.startswith("sennit") else "src/") + name]


@functools.lru_cache(maxsize=None)
def reached(path):
    """The headers that a file includes, and those that these include."""
    found = set()
    for name in filter(None, (m.group(1) for m in
                              INCLUDE.finditer(read(path)))):
        for path in places(name):
            found |= {path} | reached(path)
    return found


def tokens(text):
    """The tokens that mean something, each with its position."""
    return [(m.group(), m.start()) for m in TOKEN.finditer(text)
            if not m.group().isspace() and m.group()[:2] not in COMMENT]


# --- which names are private to a file ---------------------------------------


def declarations(text):
    """Lists of tokens, one list per declaration at file scope. A group in
    brackets is one token: the list of its tokens, first its bracket."""
    done, stack, now = [], [], []
    for token, _ in tokens(DIRECTIVE.sub("", text)):
        if token in ("(", "[", "{"):
            stack.append(now)
            now = [token]
        elif token in (")", "]", "}"):
            if not stack:
                fail("a bracket too many")
            group, now = now, stack.pop()
            body = group[0] == "{" and now and now[-1][0] == "("
            now.append(group)
            if body and not stack:  # of a function
                done.append(now)
                now = []
        elif token == ";" and not stack:
            done.append(now)
            now = []
        else:
            now.append(token)
    if stack:
        fail("a bracket that is not closed")
    return done


def declarators(words, macros):
    """The names that one declaration declares."""
    names, wanted = [], True  # not in an initialiser
    for at, (word, then) in enumerate(zip(words, words[1:] + [";"])):
        before = words[at - 1] if at else ""
        if word == ",":
            wanted = True
        elif not wanted or before in TAGGED or word in TAGGED + SPECIFIERS \
                or not isinstance(word, list) and word in macros:
            continue
        elif isinstance(word, list):
            if word[:2] == ["(", "*"]:  # a pointer to a function
                return names + [word[2]]
        elif word == "=":
            wanted = False
        elif then[0] == "(" and then[1:2] != ["*"]:  # a function
            return names + [word]
        elif WORD.match(word) and then[0] in "=,;[":
            names.append(word)
    return names


def constants(words):
    """The constants of the enums that the declaration defines."""
    found = []
    for at, word in enumerate(words):
        if isinstance(word, list) and word[0] == "{" and \
                "enum" in words[max(at - 2, 0):at]:
            found += [name for comma, name in zip(word, word[1:])
                      if comma in ("{", ",")]
    return found


@functools.lru_cache(maxsize=None)
def defined(path):
    """The names and the tags that a file defines for itself, or a header."""
    text = read(path)
    near = "".join(read(name) for name in reached(path))
    macros = {m.group(1) for m in MACRO.finditer(text + near)}
    names = set()
    for words in declarations(text):
        for word in ("static", "typedef"):
            if word in words:
                names.update(declarators(words[words.index(word) + 1:],
                                         macros))
        names.update(constants(words))
    plain = [token for token, _ in tokens(DIRECTIVE.sub("", text))]
    tags = {name for word, name, then in zip(plain, plain[1:], plain[2:])
            if word in TAGGED and then == "{" and WORD.match(name)}
    return names, tags - set(TAG.findall(near))


def owned(path, kind, shared):
    """The new names of those that a file uses. `kind` is 0 for names, 1 for
    tags. A header keeps its own, unless another defines them too: `shared`."""
    new = {}
    for owner in reached(path) | {path}:
        mine = defined(owner)[kind]
        if owner.endswith(".h"):
            mine = mine & shared[kind]
        prefix = re.sub(r"\W", "_", owner[owner.index("/") + 1:-2])
        new.update((name, prefix + "__" + name) for name in mine)
    return new


def defined_twice(headers):
    """The names and the tags that two headers define."""
    twice = []
    for kind in (0, 1):
        once, more = set(), set()
        for path in headers:
            names = defined(path)[kind]
            more |= once & names
            once |= names
        twice.append(more)
    return twice


# --- renaming ----------------------------------------------------------------


class Members:
    """Follows brackets, and says whether a word is the name of a member."""

    def __init__(self):
        self.stack = []

    def step(self, before, word, then):
        if word in ("{", "(", "["):
            members = word == "{" and (before[-1] in TAGGED[:2] or
                                       before[-2] in TAGGED[:2])
            inside = word == "(" and self.stack[-1:] == [True]
            self.stack.append(bool(members or inside))
        elif word in ("}", ")", "]"):
            if self.stack:
                self.stack.pop()
        declared = self.stack[-1:] == [True] and \
            before[-1] not in ("{", ";") and then in (";", ",", ":", "[", ")")
        return declared or before[-1] in (".", "->")


def by_spelling(text):
    """The macros that text defines, and the numbers of the arguments that they
    use as they are spelt: as strings, in new names or as names of members."""
    macros = {"offsetof": {1}}
    for name, words, body in re.findall(
            r"#[ \t]*define[ \t]+(\w+)\(([^)]*)\)((?:[^\n\\]|\\.|\\\n)*)",
            text, re.S):
        macros[name] = {at for at, word in enumerate(words.split(", "))
                        if re.search(r"(?:[#.]|->|offsetof\(\w+, ?)%s\b"
                                     r"|\b%s ?##" % (word, word), body)}
    return {name: numbers for name, numbers in macros.items() if numbers}


def spelt(found, macros):
    """The positions in `found`, tokens, of arguments that are spelt."""
    places, calls, before = set(), [], ""
    for word, at in found:
        if word in ("(", "[", "{"):
            calls.append([macros.get(before, ()), 0])
        elif word in (")", "]", "}") and calls:
            calls.pop()
        elif word == "," and calls:
            calls[-1][1] += 1
        elif calls and calls[-1][1] in calls[-1][0]:
            places.add(at)
        before = word
    return places


def with_names(text, names, tags, macros):
    found = tokens(text)
    members = Members()
    before, out, end = ["", ""], [], 0
    kept = spelt(found, macros) | {m.start(1) for m in MACRO.finditer(text)}
    for line in INCLUDE.finditer(text):
        kept.update(range(*line.span()))
    for (word, at), (then, _) in zip(found, found[1:] + [("", 0)]):
        member = members.step(before, word, then)
        new = tags.get(word) if before[-1] in TAGGED else \
            None if member or at in kept else names.get(word)
        if new:
            out += [text[end:at], new]
            end = at + len(word)
        before = [before[-1], word]
    return "".join(out) + text[end:]


def renamed(path, shared):
    """The text of a file."""
    text = read(path)
    names, tags = (owned(path, kind, shared) for kind in (0, 1))
    if names or tags:
        near = "".join(read(name) for name in reached(path))
        text = with_names(text, names, tags, by_spelling(text + near))
    return text
