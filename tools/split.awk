# SPDX-License-Identifier: Apache-2.0
# split.awk - separates C code from comments, for the checks that read one of
# them.
#
# split_line(s) sets CODE to the line without comments and string contents, NOTE
# to the text of its comments, and OPEN to 1 while a comment continues on the
# next line.

function split_line(s,    at, rest)
{
	CODE = ""
	NOTE = ""
	if (FNR == 1)
		OPEN = 0
	while (s != "") {
		if (OPEN) {
			at = index(s, "*/")
			OPEN = !at
			NOTE = NOTE (at ? substr(s, 1, at - 1) : s)
			s = at ? substr(s, at + 2) : ""
			continue
		}
		if (!match(s, /["']|\/[*\/]/)) {
			CODE = CODE s
			return
		}
		CODE = CODE substr(s, 1, RSTART - 1)
		rest = substr(s, RSTART)
		if (substr(rest, 1, 2) == "/*") {
			OPEN = 1
			s = substr(rest, 3)
		} else if (substr(rest, 1, 2) == "//") {
			NOTE = NOTE substr(rest, 3)
			return
		} else {
			if (substr(rest, 1, 1) == "\"")
				match(rest, /^"([^"\\]|\\.)*"?/)
			else
				match(rest, /^'([^'\\]|\\.)*'?/)
			CODE = CODE "\"\""
			s = substr(rest, RLENGTH + 1)
		}
	}
}
