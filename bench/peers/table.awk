# SPDX-License-Identifier: Apache-2.0
# table.awk - prints the results of tools/bench-peers as a Markdown table: a row
# per workload and number of workers, a column per peer.
#
# A cell contains nanoseconds per operation, and the ratio to sennit's time. *:
# the peer did fewer operations than sennit. Below are the compilers. list=1 prints only the rows of
# sennit that the table needs; points=1 prints "row label peer ns" for a plot.

function row(label, workload, ours, theirs, n)
{
	labels[++rows] = label
	workloads[rows] = workload
	variant[rows] = ours
	what[rows] = theirs
	sizes[rows] = n
}

# One result with the name that the table uses: n is included where it is part
# of the row.
function key(workload, what, n)
{
	return workload "/" what "/" (workload ~ /^W6/ ? n : "")
}

function figure(ns)
{
	if (ns >= 1e6)
		return sprintf("%.1fM", ns / 1e6)
	if (ns >= 1e4)
		return sprintf("%.1fk", ns / 1e3)
	if (ns >= 100)
		return sprintf("%.0f", ns)
	return sprintf(ns < 1 ? "%.2f" : "%.1f", ns)
}

function ratio(a, b)
{
	if (!b)
		return ""
	return sprintf(a / b < 10 ? " ×%.1f" : " ×%.0f", a / b)
}

# The times that sennit was to reach, with one worker and with two.
function goals(one, two)
{
	goal[rows, 1] = one
	goal[rows, 2] = two
}

function add_rows()
{
	row("W1 spawn a task", "W1-spawn", "pointer")
	goals(10, 20)
	row("W2 fork-join, wait group", "W2-fib", "wait-group")
	goals(13, 6.5)
	row("W2 fork-join, tied tasks", "W2-fib", "wait-group-spawn")
	goals(12)
	row("W2 fork-join, group", "W2-fib", "group")
	goals(8, 4)
	row("W2 fork-join, compiled in", "W2-fib", "fork")
	goals(2.1, 1.05)
	row("W3 skynet", "W3-skynet", "wait-group")
	goals(12, 6)
	row("W4a ping-pong, one worker", "W4a-ping-pong", "one-worker")
	goals(12)
	row("W4b ping-pong, two workers", "W4b-ping-pong", "two-workers")
	goals("", 110)
	row("W5 ring of 503", "W5-ring", "events")
	goals(20, 100)
	row("W6a block, 10^4", "W6a-block", "first-touch", "first-touch", 10000)
	goals(1900)
	row("W6a block, 10^5", "W6a-block", "first-touch", "first-touch", 100000)
	goals(1900)
	row("W6c wake, 10^4", "W6c-wake", "first-touch", "first-touch", 10000)
	goals(90)
	row("W6c wake, 10^5", "W6c-wake", "first-touch", "first-touch", 100000)
	goals(180)
	row("W6b bytes per blocked, 10^5", "W6b-memory", "per-fiber",
		"per-fiber", 100000)
	goals(4300, 4300)
	row("W7 mutex, 64 fibers", "W7-mutex", "64-fibers")
	goals(4.5, 5)
	row("W8 sleep: CPU", "W8-sleep", "cpu", "cpu")
	goals(2000)
	row("W8 lateness, median", "W8-sleep", "late-p50", "late-p50")
	goals(100000)
	row("W8 lateness, 99 %", "W8-sleep", "late-p99", "late-p99")
	goals(5000000)
	row("W9 unbalanced tree", "W9-unbalanced-tree", "wait-group")
	goals(14, 7)
	row("W9 unbalanced tree, compiled in", "W9-unbalanced-tree", "fork")
	goals(14, 7)
	row("W10a n-queens", "W10a-nqueens", "wait-group")
	goals(16, 8)
	row("W10a n-queens, compiled in", "W10a-nqueens", "fork")
	goals(16, 8)
	row("W10b parallel for, element", "W10b-parallel-for",
		"loop-pieces-of-1000")
	goals("", 0.25)
	row("W11a task from outside, median", "W11a-submit", "p50", "p50")
	goals(8000, 8000)
	row("W11a task from outside, 99 %", "W11a-submit", "p99", "p99")
	goals(25000, 25000)
	row("W11b wake from outside, median", "W11b-wake-fiber", "p50", "p50")
	goals(10000, 10000)
	row("W11b wake from outside, 99 %", "W11b-wake-fiber", "p99", "p99")
	goals(25000, 25000)
	row("W13 timer, the same again", "W13-timeout", "difference",
		"wheel-last-armed")
	goals(8)
	row("W13 the wheel alone, any of 10^6", "W13-timeout",
		"wheel-any-armed", "wheel-any-armed")
	row("R1 FFT, a row", "R1-fft", "parallel-for")
	row("R2 ray tracer, a pixel", "R2-ray", "parallel-for")
	row("R3 merge, an element", "R3-merge", "fork")
	row("R4 B-tree, a key", "R4-b-tree", "mutex")
	row("R5 Cholesky, a step", "R5-cholesky", "dag")
	row("R6 simulation, an event", "R6-simulation", "events")
}

function ours_of(r)
{
	return key(workloads[r], variant[r], sizes[r])
}

function theirs_of(r)
{
	return key(workloads[r], what[r], sizes[r])
}

function cell(peer, r, w,    at, mine, ns)
{
	at = peer SUBSEP theirs_of(r) SUBSEP w
	if (!(at in value))
		return "-"
	mine = value["", ours_of(r), w]
	ns = value[at]
	return figure(ns) ratio(ns, mine) (count[at] < count["", ours_of(r), w] \
		? " *" : "")
}

function print_row(r, w,    line, p)
{
	line = "| " labels[r] " | " w " | " \
		(goal[r, w] ? figure(goal[r, w]) : "") " | **" \
		figure(value["", ours_of(r), w]) "** |"
	for (p = 1; p <= peers; p++)
		line = line " " cell(names[p], r, w) " |"
	print line
}

function print_points(r, w,    p, at)
{
	if (workloads[r] == "W6b-memory") # bytes are no time
		return
	points_at++
	printf "%d\t%s, %s\t%s\t%s\n", points_at, labels[r], "w" w, "sennit",
		value["", ours_of(r), w]
	for (p = 1; p <= peers; p++) {
		at = names[p] SUBSEP theirs_of(r) SUBSEP w
		if (at in value)
			printf "%d\t%s, %s\t%s\t%s\n", points_at, labels[r],
				"w" w, names[p], value[at]
	}
}

function any_peer(r, w,    p)
{
	for (p = 1; p <= peers; p++)
		if ((names[p], theirs_of(r), w) in value)
			return 1
	return 0
}

BEGIN {
	FS = "\t"
	add_rows()
	if (list) {
		for (r = 1; r <= rows; r++)
			print workloads[r] "/" variant[r] "=" sizes[r]
		exit
	}
}

/^# compiler: / {
	programs[0] = "sennit: " substr($0, 13)
	next
}

/^# peer: / {
	theirs = substr($0, 9)
	sub(/ +$/, "", theirs)
	next
}

/^#/ || NF != 8 {
	next
}

{
	peer = ""
	name = $2
	if (theirs) {
		peer = $2
		sub("/.*", "", peer)
		name = $2 ~ "/" ? substr($2, length(peer) + 2) : ""
		if (!(peer in seen)) {
			seen[peer] = 1
			names[++peers] = peer
			programs[peers] = peer ": " theirs
		}
	}
	w = $3 ? $3 : 1
	at = peer SUBSEP key($1, name, $4) SUBSEP w
	value[at] = $1 == "W6b-memory" ? $8 : $5
	count[at] = $4
	if (w > most)
		most = w
}

END {
	if (list)
		exit
	if (!points) {
		line = "| ns | workers | goal | sennit |"
		rule = "|---|---|---|---|"
		for (p = 1; p <= peers; p++) {
			line = line " " names[p] " |"
			rule = rule "---|"
		}
		print line
		print rule
	}
	for (r = 1; r <= rows; r++)
		for (w = 1; w <= most; w++)
			if (("", ours_of(r), w) in value && any_peer(r, w)) {
				if (points)
					print_points(r, w)
				else
					print_row(r, w)
			}
	if (points)
		exit
	print ""
	for (v = 0; v <= peers; v++)
		print "- " programs[v]
}
