# SPDX-License-Identifier: Apache-2.0
# refs.awk - prints "place kind name" for each name that comments and pages
# mention: every file name, and every identifier that no code contains. The kind
# of a file that a public header names is "installed", else "file".

BEGIN {
	# In a product, and beside the products. Those of the last line are in
	# no other place.
	folder = "((core|io|tls|diag|mpi|cpp|marl|python|rust|programs)/" \
		"(include|src|test|bench|examples|docs)|diag/(top|trace|" \
		"debugger)|docs|tools|testing|bench|cmake|programs|packaging|" \
		"src|test|include|examples|bindings)"
	file = folder "/[a-zA-Z0-9_/.-]+"
}

function mention(kind, name)
{
	if (!((kind, name) in first)) {
		first[kind, name] = FILENAME ":" FNR
		list[++n] = kind " " name
	}
}

# A name that continues after the match, or ends in `_`, is a pattern, not a
# name.
function mentions_in(s,    name, next_char, before)
{
	while (match(s, /(sennit|sn|os|arch)_[a-z0-9_]+/)) {
		name = substr(s, RSTART, RLENGTH)
		before = RSTART > 1 ? substr(s, RSTART - 1, 1) : " "
		next_char = substr(s, RSTART + RLENGTH, 1)
		s = substr(s, RSTART + RLENGTH)
		if (before ~ /[A-Za-z0-9_\/.<-]/ || next_char ~ /[A-Za-z*<{]/ ||
		    name ~ /_$/)
			continue
		if (next_char == "(" || (name ~ /^sennit_/ && !page))
			mention("name", name)
	}
}

function files_in(s,    name, before)
{
	while (match(s, file)) {
		name = substr(s, RSTART, RLENGTH)
		before = RSTART > 1 ? substr(s, RSTART - 1, 1) : " "
		s = substr(s, RSTART + RLENGTH)
		sub(/[.\/-]+$/, "", name)
		if (before ~ /[A-Za-z0-9_\/.-]/ || s ~ /^[*<{$]/)
			continue
		mention(public ? "installed" : "file", name)
	}
}

FNR == 1 {
	page = FILENAME ~ /\.md$/
	public = FILENAME ~ /^[a-z]+\/include\//
}
page {
	mentions_in($0)
	files_in($0)
	next
}
{
	split_line($0)
	mentions_in(NOTE)
	files_in(NOTE)
	while (match(CODE, /[A-Za-z_][A-Za-z0-9_]*/)) {
		exists[substr(CODE, RSTART, RLENGTH)] = 1
		CODE = substr(CODE, RSTART + RLENGTH)
	}
}
END {
	for (i = 1; i <= n; i++) {
		split(list[i], part, " ")
		if (part[1] != "name" || !(part[2] in exists))
			print first[part[1], part[2]], list[i]
	}
}
