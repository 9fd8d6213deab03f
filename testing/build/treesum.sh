#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# treesum.sh - sennit-treesum prints what sha256sum prints, handles unusual
# trees, reports what is wrong with broken ones, and stops when interrupted.
#
# Needs SOURCE_DIR and BUILD_DIR. Exits with 77 if the program is not built.
set -eu

treesum=${BUILD_DIR:?}/sennit-treesum
if [ ! -x "$treesum" ]; then
	echo "skipped: $treesum is not built"
	exit 77
fi
treesum=$(cd "$(dirname "$treesum")" && pwd)/sennit-treesum
room=$(mktemp -d)
child=
failures=0
workers=1
path=$PATH # where the program finds sha256sum

clean_up() {
	[ -z "$child" ] || kill -KILL "$child" 2>/dev/null || :
	chmod -R u+rwx "$room"
	rm -rf "$room"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
cd "$room"

fail() {
	echo "FAILED with $workers workers: $1"
	shift
	for file; do
		echo "--- $file"
		head -n 20 "$file"
	done
	failures=$((failures + 1))
}

# run STATUS ARGUMENT...: runs the program and checks its exit status.
run() {
	wanted=$1
	shift
	status=0
	PATH=$path "$treesum" --workers "$workers" --timeline line.svg "$@" \
		>out 2>err </dev/null || status=$?
	[ "$status" -eq "$wanted" ] ||
		fail "treesum $*: exit status $status, not $wanted" out err
	sed '$d' out >sums
}

# The files below the given roots, as sha256sum prints them, in path order.
expect() {
	find "$@" -xtype f -print0 2>/dev/null | LC_ALL=C sort -z >list
	: >expected
	if [ -s list ]; then
		xargs -0 sha256sum -- <list >expected 2>/dev/null || :
	fi
}

sums_are_expected() {
	cmp -s sums expected || fail "$1: the sums differ" expected sums err
}

last_line_is() {
	[ "$(tail -n 1 out)" = "$1" ] || fail "last line is not: $1" out err
}

says() {
	grep -q -- "$1" err || fail "standard error does not say: $1" err
}

# Checks that the picture is well-formed and has a row per worker.
picture_is_good() {
	if command -v xmllint >/dev/null; then
		xmllint --noout line.svg || fail "the picture is no XML"
	elif ! head -c 4 line.svg | grep -q '<svg' ||
	     ! tail -n 1 line.svg | grep -q '</svg>' ||
	     [ "$(grep -c '<path' line.svg)" -ne \
	       "$(grep '<path' line.svg | grep -c '/>')" ]; then
		fail "the picture is not well-formed"
	fi
	[ "$(grep -c '>worker [0-9]*<' line.svg)" -eq "$workers" ] ||
		fail "the picture does not have $workers rows"
	rm -f line.svg
}

# --- trees -------------------------------------------------------------------

make_odd() {
	mkdir -p odd/sub/sub odd/a odd/-dash 'odd/with space'
	printf 'plain' >odd/plain
	printf 'link target' >odd/sub/target
	: >odd/empty
	printf 'x' >'odd/with space/two  spaces '
	printf 'x' >"$(printf 'odd/new\nline')"
	printf 'x' >"$(printf 'odd/tail\n.')"
	printf 'x' >"$(printf 'odd/re\rturn')"
	printf 'x' >'odd/back\slash'
	printf 'x' >"$(printf 'odd/\134')"
	printf 'x' >odd/-dash/-n
	printf 'x' >"$(printf 'odd/\303\244\377')"
	# Sorted by bytes: a-b, a.b, a/c, ab.
	printf 'x' >odd/a-b
	printf 'x' >odd/a.b
	printf 'x' >odd/a/c
	printf 'x' >odd/ab
	ln -s sub/target odd/link-to-file
	ln -s sub odd/link-to-directory
	ln -s .. odd/sub/link-upwards
	mkfifo odd/fifo
	truncate -s 64M odd/sparse
	head -c 131072 /dev/zero >odd/one-buffer
	head -c 131073 /dev/zero >odd/one-buffer-more
	deep=odd/deep
	for i in 1 2 3 4 5 6 7 8; do
		deep=$deep/1/2/3/4/5/6/7/8/9/0
	done
	mkdir -p "$deep"
	printf 'deep' >"$deep/file"
}

make_broken() {
	mkdir -p broken/closed
	printf 'good' >broken/good
	printf 'good' >broken/zgood
	ln -s nowhere broken/dangling
	ln -s loop-b broken/loop-a
	ln -s loop-a broken/loop-b
	ln -s loop-self broken/loop-self
	printf 'secret' >broken/unreadable
	chmod 000 broken/unreadable broken/closed
	bad=4
	[ -r broken/unreadable ] || bad=6 # root reads everything
}

make_many() {
	mkdir -p many
	i=0
	while [ $i -lt 30 ]; do
		mkdir many/$i
		j=0
		while [ $j -lt 100 ]; do
			echo "$i $j" >many/$i/$j
			j=$((j + 1))
		done
		i=$((i + 1))
	done
}

# --- claims ------------------------------------------------------------------

odd_names_are_printed_as_sha256sum_does() {
	run 0 odd
	expect odd
	sums_are_expected odd
	last_line_is "treesum: $(wc -l <sums) files, identical to sha256sum"
	says 'odd/fifo: a fifo, skipped'
	says '2 links to directories not followed'
	picture_is_good
}

every_form_of_a_root_works() {
	ln -sfn odd link
	printf 'x' >-
	printf 'x' >-r
	run 0 -- link odd/sub/ many/0/0 - -r
	sha256sum -- -r ./- link/sub/target many/0/0 odd/sub/target >some
	grep -e ' \./-$' -e ' -r$' -e ' link/sub/target$' \
		-e ' many/0/0$' -e ' odd/sub/target$' sums >ours || :
	cmp -s some ours || fail "roots of several forms" some ours err
	rm -f link ./- ./-r
}

what_cannot_be_read_is_named_and_the_rest_summed() {
	run 1 broken
	expect broken
	sums_are_expected broken
	last_line_is "treesum: $(wc -l <sums) files, identical to sha256sum, \
$bad could not be read"
	says 'broken/dangling: dangling symbolic link'
	says 'broken/loop-a: loop of symbolic links'
	says 'broken/loop-self: .*; sha256sum could not read it either'
	if [ "$bad" -eq 6 ]; then
		says 'broken/unreadable: Permission denied'
		says 'broken/closed: Permission denied'
	fi
	picture_is_good
}

an_empty_tree_is_no_failure() {
	run 0 empty
	last_line_is 'treesum: 0 files, identical to sha256sum'
	[ ! -s sums ] || fail "an empty tree has sums" sums
	picture_is_good
}

a_missing_path_fails_and_the_rest_is_summed() {
	run 1 missing many/0
	expect many/0
	sums_are_expected 'missing many/0'
	says 'missing: No such file or directory'
	last_line_is 'treesum: 100 files, identical to sha256sum, 1 could not be read'
	run 1
	says 'no PATH given'
	run 1 --buffers 0 many
	says '0: not a number'
	run 1 -o missing/file empty
	says 'missing/file: No such file'
}

many_files_share_few_buffers() {
	expect many odd/sparse
	for buffers in 1 3 64; do
		run 0 --buffers $buffers many odd/sparse
		sums_are_expected "$buffers buffers"
	done
	last_line_is 'treesum: 3001 files, identical to sha256sum'
	run 0 --output file many odd/sparse
	cmp -s file expected || fail "--output file differs" file expected
	[ "$(wc -l <out)" -eq 1 ] || fail "sums went to both places" out
	run 0 --no-verify many
	last_line_is 'treesum: 3000 files, not compared with sha256sum'
}

a_wrong_sum_is_noticed() {
	mkdir -p fake none
	real=$(command -v sha256sum)
	printf '#!/bin/sh\n%s "$@" | sed "2s/^./g/"\n' "$real" >fake/sha256sum
	chmod +x fake/sha256sum
	path=$room/fake:$PATH
	run 1 many/0
	last_line_is 'treesum: 100 files, 1 differ from sha256sum'
	says 'many/0/1: sha256sum has another sum for it'
	printf '#!/bin/sh\n%s "$@" | sed 2d\n' "$real" >fake/sha256sum
	run 1 many/0
	says 'many/0/1: sha256sum could not read it'
	path=$room/none
	run 1 many/0
	path=$PATH
	last_line_is "treesum: 100 files, not compared: cannot run sha256sum: \
No such file or directory"
}

files_may_vanish_meanwhile() {
	mkdir -p churn
	cp -r many/1 churn/stays
	while [ ! -e stop ]; do
		mkdir -p churn/comes
		cp many/2/* churn/comes
		rm -rf churn/comes
	done &
	child=$!
	for i in 1 2 3 4 5; do
		status=0
		"$treesum" --workers "$workers" --timeline line.svg \
			--no-verify churn >out 2>err || status=$?
		[ "$status" -le 1 ] || fail "churn: exit status $status" err
		[ "$(grep -c ' churn/stays/' out)" -eq 100 ] ||
			fail "files that stay were lost" out err
	done
	: >stop
	wait "$child"
	child=
	rm -rf churn stop
}

# Whether the process is still running.
lives() {
	grep -qs '^State:.[^Z]' "/proc/$1/status"
}

# Waits until the process sums a huge file, or has started the sha256sum that
# reports this. By then its signal handler is installed.
wait_until_busy() {
	until [ -e asked ] ||
	      find "/proc/$1/fd" -lname '*/huge/*' 2>/dev/null | grep -q .; do
		lives "$1" || return 0
	done
}

# Its exit status shows whether it stopped.
end_within_seconds() {
	limit=$(($(date +%s) + $2))
	while lives "$1"; do
		[ "$(date +%s)" -le $limit ] || kill -KILL "$1"
		sleep 0.05
	done
}

# interrupt ARGUMENT...: send SIGINT to a run that would take minutes.
interrupt() {
	rm -f line.svg asked
	PATH=$path "$treesum" --workers "$workers" --timeline line.svg "$@" \
		>out 2>err &
	child=$!
	wait_until_busy $child
	kill -INT $child
	end_within_seconds $child 10
	status=0
	wait $child || status=$?
	child=
	[ "$status" -eq 130 ] || fail "interrupted: exit status $status" err
	says 'interrupted after'
	if [ -s out ] || [ -e line.svg ]; then
		fail "an interrupted run left something" out
	fi
}

an_interrupt_stops_it_cleanly() {
	mkdir -p huge
	truncate -s 256G huge/1 huge/2 huge/3
	interrupt huge many
	interrupt --buffers 1 many huge
	rm -rf huge
	# While sha256sum runs, which never ends here.
	printf '#!/bin/sh\n: >asked\nexec sleep 1000\n' >fake/sha256sum
	path=$room/fake:$PATH
	interrupt many/0
	path=$PATH
}

make_odd
make_broken
make_many
mkdir empty
for workers in 1 2 8; do
	odd_names_are_printed_as_sha256sum_does
	every_form_of_a_root_works
	what_cannot_be_read_is_named_and_the_rest_summed
	an_empty_tree_is_no_failure
	a_missing_path_fails_and_the_rest_is_summed
	many_files_share_few_buffers
	a_wrong_sum_is_noticed
	files_may_vanish_meanwhile
	an_interrupt_stops_it_cleanly
done
if [ "$failures" -ne 0 ]; then
	exit 1
fi
echo "treesum: all as sha256sum has it"
