#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# debug_switch.sh - SENNIT_DEBUG turns on what its words say, in programs that
# are linked with the shared library, which loads libsennit-diag from beside it,
# and with the archives. Unknown words and what is not there are named in one
# line. A program with other rights than its caller's does not read it.
#
# Environment: CC (cc), CFLAGS (flags for linking with the library), SOURCE_DIR
# (.), BUILD_DIR (a build), LIB_DW (its options for libdw).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CFLAGS:=}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
: "${LIB_DW:=}"

[ -e "$BUILD_DIR/libsennit.so" ] || skip 'libsennit.so is not built'
[ -e "$BUILD_DIR/libsennit-diag.so" ] || skip 'libsennit-diag is not built'
case $("$CC" -dumpmachine) in
"$(uname -m)"-*) ;;
*) skip 'the programs are for another processor' ;;
esac

build_dir=$(cd "$BUILD_DIR" && pwd)
cd "$scratch"

# `hang`: two fibers wait for each other. `busy`: a task keeps its worker.
# `end`: a task runs. `exit`: exit() while the scheduler goes on. `two`: two
# schedulers. `misuse`: abort().
cat >program.c <<'END_OF_PROGRAM'
#include <sennit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sennit_mutex     first, second;
static sennit_event     ready, also_ready;
static sennit_scheduler *s;

static void await(sennit_event *e)
{
	(void)!sennit_event_wait_until(e, SENNIT_NEVER);
}

static void one_way(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&first);
	sennit_event_set(&ready);
	await(&also_ready);
	sennit_mutex_lock(&second);
}

static void other_way(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&second);
	sennit_event_set(&also_ready);
	await(&ready);
	sennit_mutex_lock(&first);
}

static void run(sennit_scheduler *on, sennit_task_fn *task)
{
	const sennit_task t = { .run = task };

	if (sennit_schedule_task_on(on, &t))
		abort();
}

static void nothing(void *unused)
{
	(void)unused;
}

static void keep_busy(void *unused)
{
	const sennit_time end = sennit_after(3 * SENNIT_SECOND);

	(void)unused;
	run(s, nothing);
	while (sennit_now() < end)
		;
}

static sennit_scheduler *create(const char *name)
{
	sennit_scheduler *made;

	if (sennit_scheduler_create(&made, SENNIT_CONFIG(.workers = 1,
							 .name = name)))
		abort();
	return made;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "end";

	s = create("one");
	if (!strcmp(what, "hang")) {
		run(s, one_way);
		run(s, other_way);
	} else if (!strcmp(what, "busy")) {
		run(s, keep_busy);
	} else {
		run(s, nothing);
	}
	if (!strcmp(what, "two")) {
		sennit_scheduler *t = create("two");

		run(t, nothing);
		if (sennit_scheduler_shutdown(t, SENNIT_NEVER))
			return 1;
	}
	if (!strcmp(what, "misuse"))
		sennit_thread_unbind();
	if (!strcmp(what, "exit"))
		exit(0);
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
END_OF_PROGRAM

flags="-O1 -g -rdynamic $CFLAGS $INCLUDES"
dw=$LIB_DW
build()
{
	out=$1
	shift
	# shellcheck disable=SC2086 # words
	quietly "$CC" $flags -o "$out" program.c -L"$build_dir" "$@" -lpthread \
		-lm -ldl
}
build shared -lsennit -Wl,-rpath,"$build_dir"
build archive -l:libsennit.a
# shellcheck disable=SC2086 # nothing or a word
build whole -Wl,-u,sennit_stacks_print -l:libsennit-diag.a -l:libsennit.a $dw

# An archive with a member for each file, as link-time optimisation makes it.
find "$build_dir/diag/CMakeFiles/sennit_diag_objects.dir" -name '*.o' \
	-exec ar rcs libseparate.a {} +
# shellcheck disable=SC2086
build separate -Wl,-u,sennit_stacks_print -L. -lseparate -l:libsennit.a $dw
SENNIT_DEBUG=fatal,dump=USR2 ./separate end >err 2>&1 || fail 'separate fails'
[ ! -s err ] || fail "separate members: $(cat err)"

SENNIT_DEBUG= ./shared || fail 'it fails without the variable'
SENNIT_DEBUG=end ./shared 2>nothing || fail 'a word ends the program'

# says PATTERN PROGRAM WHAT: what it prints, until it says that or ends.
says()
{
	"./$2" "$3" 2>err &
	child=$!
	for _ in $(seq 300); do
		! grep -q "$1" err || break
		kill -0 $child 2>/dev/null || break
		sleep 0.2
	done
	sleep 0.5 # for the rest of what it prints
	{ kill -KILL $child && wait $child; } >/dev/null 2>&1 || :
	grep -q "$1" err || {
		cat err
		fail "$2 $3 with SENNIT_DEBUG=$SENNIT_DEBUG does not say: $1"
	}
}

# --- stall, with stacks ---------------------------------------------------------

export SENNIT_DEBUG=stall
for program in shared whole; do
	says 'sennit: stall:' $program hang
	says 'deadlock of 2 fibers' $program hang
	says '#[0-9]*  0x' $program hang
	if [ "$LIB_DW" ]; then
		says 'one_way+' $program hang
	fi
done
says 'deadlock of 2 fibers' archive hang
! grep -q '#0' err || fail 'stacks without libsennit-diag'
grep -q 'libsennit-diag' err || fail 'nobody says how to get the stacks'
for program in shared archive whole; do
	for what in end exit two; do
		./$program $what 2>err || fail "$program $what"
		[ ! -s err ] || {
			cat err
			fail "$program $what prints something"
		}
	done
done

# With assertions it is on without a word, and an empty variable turns it off.
if grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Debug' "$BUILD_DIR/CMakeCache.txt"; then
	unset SENNIT_DEBUG
	SENNIT_DEBUG='by default'
	for program in shared archive whole; do
		says 'deadlock of 2 fibers' $program hang
		for what in end exit two; do
			./$program $what 2>err || fail "$program $what"
			[ ! -s err ] || fail "$program $what: $(cat err)"
		done
	done
	says '#[0-9]*  0x' whole hang
	SENNIT_DEBUG= ./shared hang 2>err &
	child=$!
	sleep 1 # longer than two looks
	{ kill -KILL $child && wait $child; } >/dev/null 2>&1 || :
	[ ! -s err ] || fail "an empty variable leaves it on: $(cat err)"
fi
export SENNIT_DEBUG=stall

# --- fatal ----------------------------------------------------------------------

for program in shared whole; do
	for word in fatal fatal=stacks.txt; do
		SENNIT_DEBUG=$word ./$program hang 2>err &
		child=$!
		for _ in $(seq 300); do
			! grep -qs sn-dump/fatal /proc/$child/task/*/comm || break
			sleep 0.2
		done
		sleep 0.2
		kill -ABRT $child
		wait $child 2>/dev/null && fail "$program survives SIGABRT"
		out=err
		[ "$word" = fatal ] || out=stacks.txt
		grep -q 'SIGABRT ends the process' $out ||
			fail "$program does not say that it ends"
	done
done

# --- dump ------------------------------------------------------------------------

# The thread that writes is there before it.
has_handler_of_usr1()
{
	caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/"$1"/status)
	[ $((0x${caught:-0} >> 9 & 1)) -eq 1 ]
}

for how in 'shared USR1' 'whole USR1' 'shared USR1:merged'; do
	program=${how% *}
	SENNIT_DEBUG=dump=${how#* } ./$program hang 2>err &
	child=$!
	for _ in $(seq 300); do # without its handler USR1 would end it
		! has_handler_of_usr1 $child || break
		sleep 0.2
	done
	for _ in $(seq 300); do
		kill -USR1 $child 2>/dev/null || fail "$program: USR1 ends it"
		! grep -q 'waits* for mutex' err || break
		sleep 0.2
	done
	{ kill -KILL $child && wait $child; } >/dev/null 2>&1 || :
	case $how in
	*:merged) grep -q '^1 of .* wait for mutex' err ;;
	*) grep -q 'waits for mutex' err ;;
	esac || fail "$how: no dump"
done

# --- watchdog --------------------------------------------------------------------

export SENNIT_DEBUG=watchdog=20
says 'keep_busy.* runs for .* while others are ready' shared busy
says 'keep_busy.* runs for .* while others are ready' whole busy
says 'standstill: each of the 1 workers is in one task' shared busy
says 'deadlock of 2 fibers for [0-9]* ms$' shared hang
says ' ms for mutex 0x' shared hang
[ "$(grep -c 'deadlock of' err)" -le 1 ] || fail 'a deadlock is told twice'
for what in end exit two; do
	./shared $what 2>err || fail "watchdog: $what"
	[ ! -s err ] || {
		cat err
		fail "watchdog: $what prints something"
	}
done

# --- trace -----------------------------------------------------------------------

# is_trace FILE
is_trace()
{
	[ "$(head -c 8 "$1")" = sennittr ] || fail "$1 is no trace"
}
for program in shared archive; do
	for what in end exit two; do
		rm -f file file.2
		SENNIT_DEBUG=trace=file ./$program $what 2>err || cat err
		[ ! -s err ] || {
			cat err
			fail "a trace of $what"
		}
		is_trace file
	done
	rm -f file file.2
	SENNIT_DEBUG=trace=file ./$program two
	is_trace file
	is_trace file.2
	rm -f file
	! SENNIT_DEBUG=trace=file ./$program misuse 2>err || fail 'no misuse'
	is_trace file
done
SENNIT_DEBUG=trace=none/file ./archive 2>err || fail 'it ends the program'
grep -q 'SENNIT_DEBUG: trace: no such file' err || fail 'no error' "$(cat err)"
SENNIT_DEBUG=trace ./archive 2>err
grep -q 'trace=FILE' err || fail 'no name, no error'

# --- profile ---------------------------------------------------------------------

for program in shared whole; do
	for what in end exit two; do
		rm -f file file.waits
		SENNIT_DEBUG=profile=file ./$program $what 2>err ||
			fail "a profile of $what" "$(cat err)"
		[ ! -s err ] || fail "a profile of $what" "$(cat err)"
		[ -s file ] && [ -s file.waits ] || fail 'no profile'
	done
	rm -f file
	SENNIT_DEBUG=profile=file ./$program busy
	grep -aq keep_busy file || fail 'keep_busy is not in its profile'
done
SENNIT_DEBUG=profile=none/file ./shared 2>err || fail 'it ends the program'
grep -q 'SENNIT_DEBUG: profile: no such file' err ||
	fail 'no error' "$(cat err)"
SENNIT_DEBUG=profile ./shared 2>err
grep -q 'profile=FILE' err || fail 'no name, no error'

# --- live ------------------------------------------------------------------------

SENNIT_DEBUG=live=$scratch/socket ./shared hang 2>err &
child=$!
for _ in $(seq 300); do
	[ ! -S socket ] || break
	sleep 0.2
done
[ -S socket ] || fail 'no live view' "$(cat err)"
{ kill -KILL $child && wait $child; } >/dev/null 2>&1 || :
SENNIT_DEBUG=live=$scratch/other ./shared exit || fail 'a live view'
[ ! -e other ] || fail 'the socket of a live view stays'

# --- what is not there -----------------------------------------------------------

SENNIT_DEBUG=dump,stal,watchdog=x,live,profile=file ./archive 2>err
grep -q 'SENNIT_DEBUG: dump: .*libsennit-diag' err || fail 'dump without diag'
grep -q 'SENNIT_DEBUG: live: .*libsennit-diag' err || fail 'live without diag'
grep -q 'SENNIT_DEBUG: stal: unknown.*stall, dump' err || fail 'stal'
grep -q 'SENNIT_DEBUG: watchdog: a number' err || fail 'watchdog=x'
grep -q 'SENNIT_DEBUG: profile: .*libsennit-diag' err || fail 'without diag'
[ "$(wc -l <err)" -eq 5 ] || fail "not one line for each: $(cat err)"

# --- other rights ----------------------------------------------------------------

if [ "$(id -u)" -ne 0 ]; then
	exit 0
fi
cp archive rights
chown 65534 rights
chmod 4755 rights
chmod 755 "$scratch"
SENNIT_DEBUG=stal ./rights 2>err || fail 'setuid'
if grep -q stal err && ! grep -q nosuid /proc/mounts; then
	fail 'a setuid program reads the variable'
fi
