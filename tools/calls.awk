# SPDX-License-Identifier: Apache-2.0
# calls.awk - prints the name in each declaration with SENNIT_API. Used after
# split.awk.

{
	split_line($0)
	text = text " " CODE
}
END {
	count = split(text, statement, ";")
	for (i = 1; i <= count; i++) {
		if (statement[i] !~ /SENNIT_API /)
			continue
		sub(/.*SENNIT_API /, "", statement[i])
		if (match(statement[i], /sennit_[a-z0-9_]+[ \t]*(\(|\[|$)/)) {
			name = substr(statement[i], RSTART, RLENGTH)
			sub(/[ \t]*[(\[]$/, "", name)
			print name
		}
	}
}
