# SPDX-License-Identifier: Apache-2.0
# behind.awk - reads the table of table.awk, alone or in a page, and prints as
# another one which peers take less time than sennit, and by which factor. A
# peer that did fewer operations (*) counts too; ×1.0 does not.

function trim(s)
{
	gsub(/^ +| +$/, "", s)
	return s
}

BEGIN {
	FS = "|"
}

$2 == " ns " {
	for (i = 6; i < NF; i++)
		peer[i] = trim($i)
	next
}

!/^\|/ {
	split("", peer) # the table has ended
}

!(6 in peer) || !/^\| / {
	next
}

{
	label = trim($2)
	if (!(label in seen)) {
		seen[label] = 1
		labels[++rows] = label
	}
	for (i = 6; i < NF; i++)
		if (match($i, /×0\.[0-9]+/)) {
			at = label SUBSEP ($3 + 0)
			ahead[at] = (ahead[at] != "" ? ahead[at] ", " : "") \
				peer[i] " " substr($i, RSTART, RLENGTH)
		}
}

END {
	print "| slower than | one worker | two workers |"
	print "|---|---|---|"
	for (r = 1; r <= rows; r++) {
		one = ahead[labels[r], 1]
		two = ahead[labels[r], 2]
		if (one two != "")
			print "| " labels[r] " | " (one != "" ? one : "-") " | " \
				(two != "" ? two : "-") " |"
	}
}
