# SPDX-License-Identifier: Apache-2.0
# fill.awk TABLE PAGE - prints the page, and in it the rows of the table, which
# table.awk has made, instead of its own. A row of the page stays if one of its
# peers has no figure in the table.

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
		peer[FNR == NR, i] = trim($i)
	inside = 1
}

!/^\|/ {
	inside = 0
}

NR == FNR {
	at = $2 SUBSEP ($3 + 0)
	if (inside && $3 + 0) {
		ours[at] = $5
		for (i = 6; i < NF; i++)
			theirs[at, peer[1, i]] = $i
	}
	next
}

inside && $2 SUBSEP ($3 + 0) in ours {
	at = $2 SUBSEP ($3 + 0)
	line = "|" $2 "|" $3 "|" $4 "|" ours[at] "|"
	for (i = 6; i < NF; i++) {
		cell = (at, peer[0, i]) in theirs ? theirs[at, peer[0, i]] : " - "
		if (cell == " - " && $i != cell) {
			print "stays, without " peer[0, i] ":" $2 >"/dev/stderr"
			line = $0
			break
		}
		line = line cell "|"
	}
	print line
	next
}

{
	print
}
