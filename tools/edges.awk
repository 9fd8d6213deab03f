# SPDX-License-Identifier: Apache-2.0
# edges.awk - prints the table of tools/check-edges on standard output, and
# errors on standard error. Reads all files first, because a line needs its
# neighbours.

BEGIN {
	tag = "(<->|->|<-)[ \t]+[a-z][a-z0-9_]*\\.[a-z][a-z0-9_]*"
	operation = "a_([a-z_]+_(acqrel|acq|rel|seq)|fence)[ \t]*\\("
}
FNR == 1 {
	function_name = ""
}
{
	was_open = OPEN && FNR > 1
	split_line($0)
	n++
	where[n] = FILENAME ":" FNR
	path[n] = FILENAME
	code[n] = CODE
	note[n] = ""
	# A comment belongs to the line where it begins.
	begins = was_open ? begins : n
	if (was_open && CODE ~ /^[ \t]*$/)
		note[begins] = note[begins] NOTE
	else
		note[n] = NOTE
	# A comment that has lines of its own ends here.
	above[n] = 0
	if (!OPEN && NOTE != "" && CODE ~ /^[ \t]*$/ &&
	    code[begins] ~ /^[ \t]*$/)
		above[n] = begins
	if (CODE ~ /^[A-Za-z].*\(/ && CODE !~ /;[ \t]*$/) {
		function_name = CODE
		sub(/\(.*/, "", function_name)
		sub(/.*[ \t*]/, "", function_name)
	}
	inside[n] = function_name
}

function fail(line, text)
{
	print "check-edges: " where[line] ": " text >"/dev/stderr"
	bad = 1
}

# Records the edges that comment c names as ends at the given line. Returns
# their arrows. A line that is already an end counts once.
function ends(c, line,    text, arrows, arrow, name, said)
{
	text = note[c]
	gsub(/[ \t]+[*][ \t]+/, " ", text)
	arrows = ""
	while (match(text, tag)) {
		name = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		arrow = name
		sub(/[ \t].*/, "", arrow)
		sub(/^[^ \t]*[ \t]+/, "", name)
		arrows = arrows " " arrow
		said = ""
		if (text ~ /^:/) {
			said = substr(text, 2)
			sub(tag ".*", "", said)
			gsub(/^[ \t]+|[ \t,;.]+$/, "", said)
			gsub(/[ \t]+/, " ", said)
		}
		add(name, arrow, line, said)
	}
	return arrows
}

# "sched/idle.c" of core/src/kernel/sched/idle.c, "io/engine/closing.c" of
# io/src/engine/closing.c.
function short(path)
{
	sub(/^core\/src\/(kernel\/|library\/)?/, "", path)
	sub(/\/src\//, "/", path)
	return path
}

function add(name, arrow, line, said,    place)
{
	if ((name, arrow, line) in counted)
		return
	counted[name, arrow, line] = 1
	if (!(name in known)) {
		known[name] = line
		names[++name_count] = name
	}
	count[name, arrow]++
	place = short(path[line])
	if (inside[line] != "")
		place = place " " inside[line]
	if (!((name, arrow, place) in listed)) {
		listed[name, arrow, place] = 1
		places[name, arrow] = places[name, arrow] \
			(places[name, arrow] == "" ? "" : "<br>") place
	}
	if (said != "" && !index("; " what[name] "; ", "; " said "; "))
		what[name] = what[name] (what[name] == "" ? "" : "; ") said
}

# Whether the arrows fit an operation of this order.
function fits(order, arrows)
{
	if (arrows ~ / <->/)
		return 1
	if (order == "acq")
		return arrows ~ / <-/
	if (order == "rel")
		return arrows ~ / ->/
	return arrows != ""
}

# The first line of the statement that continues in this line.
function start_of(line)
{
	while (line > 1 && path[line - 1] == path[line] &&
	       code[line - 1] !~ /[;{}:][ \t]*$/ &&
	       code[line - 1] !~ /^[ \t]*($|#)/)
		line--
	return line
}

function check_operation(line, order,    first, last, arrows, i)
{
	first = start_of(line)
	last = line
	while (last < n && path[last + 1] == path[line] &&
	       code[last] !~ /[;{}][ \t]*$/)
		last++
	arrows = ""
	for (i = first; i <= last; i++)
		if (note[i] != "")
			arrows = arrows ends(i, line)
	if (first > 1 && above[first - 1] && path[first - 1] == path[first])
		arrows = arrows ends(above[first - 1], line)
	if (arrows == "")
		fail(line, "an ordered operation without an edge")
	else if (!fits(order, arrows))
		fail(line, "the edge points the other way (" order ")")
}

# Sorts the names in ascending order.
function sort_names(    i, j, t)
{
	for (i = 2; i <= name_count; i++)
		for (j = i; j > 1 && names[j - 1] > names[j]; j--) {
			t = names[j]
			names[j] = names[j - 1]
			names[j - 1] = t
		}
}

END {
	for (i = 1; i <= n; i++) {
		s = code[i]
		if (s ~ /^[ \t]*#[ \t]*define/)
			continue
		owned = 0
		while (match(s, operation)) {
			order = substr(s, RSTART, RLENGTH)
			before = RSTART > 1 ? substr(s, RSTART - 1, 1) : " "
			s = substr(s, RSTART + RLENGTH)
			if (before ~ /[A-Za-z0-9_]/)
				continue
			sub(/[ \t]*\($/, "", order)
			sub(/.*_/, "", order)
			check_operation(i, order)
			owned = 1
		}
		if (!owned && s !~ /^[ \t]*$/ &&
		    note[i] ~ "^[ \t]*" tag)
			loose[i] = 1
	}
	# Edges of other code. Those on the last line of an operation are
	# already counted.
	for (i = 1; i <= n; i++)
		if (i in loose)
			loose_end(i)
	sort_names()
	print "# Memory order"
	print ""
	print "Printed by `tools/check-edges --table`; do not edit."
	print ""
	print "Every ordered atomic operation is one end of an edge. What was"
	print "written before a publishing end is visible after the observing"
	print "end that read its value; the halves of a pair are full fences,"
	print "of which at least one side sees what the other wrote."
	print ""
	print "| edge | published by | observed by | paired in | what |"
	print "|---|---|---|---|---|"
	for (i = 1; i <= name_count; i++) {
		name = names[i]
		printf "| %s | %s | %s | %s | %s |\n", name,
			places[name, "->"], places[name, "<-"],
			places[name, "<->"], what[name]
		out = count[name, "->"] + 0
		in_ = count[name, "<-"] + 0
		pair = count[name, "<->"] + 0
		if (!out != !in_)
			fail(known[name], "edge " name ": no end that " \
				(out ? "observes" : "publishes"))
		if (pair == 1)
			fail(known[name], "edge " name " has one half only")
	}
	exit bad
}

# A comment after code without an ordered operation. Skipped if the statement of
# an ordered operation ends here, because that has counted it.
function loose_end(line,    first)
{
	for (first = start_of(line); first < line; first++)
		if (code[first] ~ operation)
			return
	ends(line, line)
}
