# SPDX-License-Identifier: Apache-2.0
"""What a comment says of each error: `-EINVAL if run is NULL` in the part about
the result. An error without words has those of a call that the comment names,
or else those of sennit_strerror().
"""

import errno
import os
import re

ERROR = re.compile(r"(?<![A-Za-z0-9_])-(E[A-Z0-9]+)\b")
LIKE = re.compile(r"(?:\bas|\blike|\bLike|\bof|\bwhat|\band) (sennit_\w+)")
SYSTEM = re.compile(r"(?:errno|errno value|value|error) of (?!sennit_)"
                    r"(\w+)\(\)|\b(?!sennit_)(\w+)\(\)'s negative errno|"
                    r"as (?!sennit_)(\w+)\(\) does")
END = re.compile(r"[\s,;:(-]*(?:\b(?:or|and)\b)?\s*"
                 r"(?:the group's|either|such as)?[\s:(-]*$")
OTHER = re.compile(r"[,;]? (?:or|and) (?:(?:a|the|another) (?:negative )?errno"
                   r"|what|of|(?:the|an|another) error|the outcome"
                   r"|as other)\b.*$|,? or, .*$")
CONDITION = re.compile(r"(?:if|when|at|for|after|while|without|with|on|before|"
                       r"during|as|until)\b")


# What the library itself returns, and not a function or system call of others.
OWN = {"ECANCELED", "EINVAL", "ENOMEM", "ESHUTDOWN", "ETIMEDOUT"}
OTHERS = re.compile(r"\b(?:error|that|value) of (?:a|its) (?:member|node)\b")
NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", re.S)


def expected(text):
    """Yields each call, and the error that a test's text expects of it."""
    text = NO_CODE.sub("", text)
    for call in re.finditer(r"\b(sennit_\w+)\(", text):
        at, depth = call.end(), 1
        while depth and at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        found = re.match(r"\s*(?:==|,)\s*-(E[A-Z0-9]+)\s*[);|&]", text[at:])
        if found and found.group(1) in OWN:
            yield call.group(1), found.group(1)


def general(root):
    """The texts of sennit_strerror(), by error."""
    text = (root / "core/src/base/check.c").read_text()
    found = re.findall(r'\{ (E[A-Z0-9]+), ((?:"[^"]*"\s*)+)\}', text)
    return {n: "".join(re.findall('"([^"]*)"', t)) for n, t in found}


def system(name):
    """The text of strerror(), which begins with a capital."""
    return os.strerror(getattr(errno, name))


def said(text):
    """Yields each error with its words, which may be none. Of code only a table
    is read, whose rows end with an error and its words."""
    table = re.findall(r"^\t[A-Z_, ]+ -(E[A-Z0-9]+)(?:, (.*))?$", text, re.M)
    text = re.sub(r"^\t.*$", "", text, flags=re.M)
    for sentence in re.split(r"(?<=[a-z0-9)`\]A-Z])\.(?:\s|$)|\n\n", text):
        sentence = " ".join(sentence.split())
        found = list(ERROR.finditer(sentence))
        before = 0
        for this, after in zip(found, found[1:] + [None]):
            rest = sentence[this.end():after.start() if after else None]
            lead = sentence[before:this.start()]
            yield this.group(1), words_of(lead, rest, before)
            before = this.end()
    yield from table


def words_of(lead, rest, several):
    """lead: the text before the error, back to the previous one."""
    if lead.endswith("the group's "):
        return "at the deadline of the caller's group"
    words = OTHER.sub("", END.sub("", rest)).lstrip()
    if words[:1] in (":", "("):
        # About both of two, as in "-ENFILE or -ENOMEM (...)".
        if several and lead.strip(" ,") in ("or", "and"):
            return ""
        words = words[1:]
    elif not CONDITION.match(words) or re.match(r"as sennit_\w+(\(\))? does$|"
                                                r"after which", words):
        return ""
    words = words.strip(" ;,.-")
    if words.count(")") > words.count("("):
        words = "".join(words.rsplit(")", 1))
    return words


class Errors:
    """calls: the header and the part of each call. returned: takes a comment's
    text apart."""

    def __init__(self, root, calls, returned):
        self.calls = calls
        self.returned = returned
        self.general = general(root)

    def of(self, names, seen=()):
        """The errors of a page, with words, in the order of the comment."""
        header, part = self.calls[names[0]]
        text = self.returned(part.text)
        joined = " ".join(text.split())
        out = {}
        for name, words in said(text):
            out[name] = out.get(name) or words
        if "head of this header" in joined:
            for name, words in said(header.text):
                out.setdefault(name, words)
        whole = re.search(r"(?:what|values? of|errors? of|as) sennit_", joined)
        for other in LIKE.findall(" ".join(part.text.split())):
            if other not in self.calls or other in (*seen, *names):
                continue
            for name, words in self.of([other], (*seen, *names)).items():
                if name in out:
                    out[name] = out[name] or words
                elif whole and other in text:
                    out[name] = words
        if seen:
            return out
        if any("sennit_time deadline" in p and not re.match("void|bool", p)
               for p in part.prototypes.values()) and \
                "negative errno" in joined:
            out = dict.fromkeys(("ETIMEDOUT", "ECANCELED"), "") | out
        return {n: w or self.general.get(n) or system(n)
                for n, w in out.items()}

    def unnamed(self, tests):
        """Errors that tests expect and that the comment of the call does not
        name, a line each."""
        asked = {}
        for path in tests:
            for pair in expected(path.read_text()):
                asked.setdefault(pair, path)
        for (call, name), path in sorted(asked.items()):
            if call not in self.calls or name in self.of([call]):
                continue
            header, part = self.calls[call]
            if not OTHERS.search(" ".join(part.text.split())):
                yield "%s: %s: its comment does not name -%s, which " \
                    "%s expects" % (header.source, call, name, path.name)

    def system(self, part):
        """The system calls whose errors a call returns."""
        found = SYSTEM.findall(self.returned(part.text))
        return list(dict.fromkeys(n for names in found for n in names if n))
