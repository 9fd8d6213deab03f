#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# misuse_lines.sh - misuse that no check on a fast path finds is named in one
# line: NULL, an object that was never initialised, and a duration in place of a
# deadline; with the shared library and with the archive. Faults go on to the
# program's handler, and those of the program itself are not commented.
#
# Environment: CC (cc), CFLAGS (flags for linking with the library), SOURCE_DIR
# (.), BUILD_DIR (a build).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CFLAGS:=}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"

[ -e "$BUILD_DIR/libsennit.so" ] || skip 'libsennit.so is not built'
case $("$CC" -dumpmachine) in
x86_64-* | aarch64-*) ;;
*) skip 'the instruction that faults is not known on this processor' ;;
esac
case $("$CC" -dumpmachine) in
"$(uname -m)"-*) ;;
*) skip 'the programs are for another processor' ;;
esac

cat >"$scratch/program.c" <<'END_OF_PROGRAM'
#include <sennit.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_IO
#include <sennit/address.h>
#include <sennit/process.h>
#include <sennit/reader.h>
#endif

static const char      *what;
static sennit_event     event;
static sennit_once      once;
static sennit_scheduler *s;

static void *volatile nothing;

static void fault(void *unused)
{
	(void)unused;
	*(volatile int *)nothing = 1;
}

static size_t fault_in_libc(void)
{
	return strlen(nothing);
}

static void use_io(void)
{
#ifdef WITH_IO
	sennit_reader *reader = nothing;
	char          *line;
	pid_t          child;

	if (!strcmp(what, "connect"))
		(void)!sennit_connect_to(nothing, SENNIT_NEVER);
	if (!strcmp(what, "listen"))
		(void)!sennit_listen_at(nothing, 0, SENNIT_NEVER);
	if (!strcmp(what, "line"))
		(void)!sennit_reader_read_line(reader, &line, SENNIT_NEVER);
	if (!strcmp(what, "spawn"))
		(void)!sennit_process_spawn(&child, nothing);
#endif
}

static int pass(void *context, size_t begin, size_t end)
{
	(void)context;
	return end < begin;
}

/* A scheduler of its own: the end of the caller's is not the caller's. */
static void use_another(void)
{
	sennit_parallel_options o = { .size = sizeof(o) };

	if (sennit_scheduler_create(&o.scheduler, NULL))
		abort();
	if (!strcmp(what, "loop"))
		(void)!sennit_parallel_for(0, 1, pass, NULL, &o, 5000);
	else if (!sennit_scheduler_shutdown(o.scheduler, 5000))
		return;
	(void)!sennit_scheduler_shutdown(o.scheduler, SENNIT_NEVER);
}

/* Misuse, also of what no program should pass. */
static void misuse(void *unused)
{
	void *volatile none = NULL;

	(void)unused;
	if (!strcmp(what, "lock"))
		sennit_mutex_lock(none);
	if (!strcmp(what, "set"))
		sennit_event_set(none);
	if (!strcmp(what, "wait"))
		(void)!sennit_event_wait_until(none, SENNIT_NEVER);
	if (!strcmp(what, "group"))
		(void)!sennit_group_cancel(none);
	if (!strcmp(what, "channel"))
		sennit_channel_close(none);
	if (!strcmp(what, "own"))
		fault(NULL);
	if (!strcmp(what, "libc") && fault_in_libc())
		return;
	if (!strcmp(what, "once"))
		sennit_once_call(&once, fault, NULL);
	use_io();
	if (!strcmp(what, "duration"))
		for (int i = 0; i < 3; i++)
			(void)!sennit_event_wait_until(&event, 5000);
	if (!strcmp(what, "sleep"))
		(void)!sennit_sleep_until(5000);
	if (!strcmp(what, "end") || !strcmp(what, "loop"))
		use_another();
	if (!strcmp(what, "past"))
		(void)!sennit_event_wait_until(&event, sennit_now() - 1);
	if (!strcmp(what, "none"))
		(void)!sennit_event_wait_until(&event, 0);
}

static void caught(int number)
{
	(void)number;
	(void)!write(2, "caught\n", 7);
	_exit(7);
}

int main(int argc, char **argv)
{
	const sennit_task task = { .run = misuse };
	const char       *where = argv[2];

	what = argv[1];
	if (argc > 3)
		signal(SIGSEGV, caught);
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1,
						      .name = "shop")))
		return 1;
	if (!strcmp(where, "task")) {
		if (sennit_schedule_task_on(s, &task))
			return 1;
	} else if (!strcmp(where, "bound")) {
		if (sennit_thread_bind(s))
			return 1;
		misuse(NULL);
		sennit_thread_unbind();
	} else {
		misuse(NULL);
	}
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
END_OF_PROGRAM

build_dir=$(cd "$BUILD_DIR" && pwd)
cd "$scratch"
flags="-O1 -g -rdynamic $CFLAGS $INCLUDES"
# shellcheck disable=SC2086 # words
quietly "$CC" $flags -o shared program.c -L"$build_dir" -lsennit \
	-Wl,-rpath,"$build_dir" -lpthread -lm -ldl
if [ -e "$build_dir/libsennit-io.so" ]; then
	# shellcheck disable=SC2086 # words
	quietly "$CC" $flags -DWITH_IO -o with_io program.c -L"$build_dir" \
		-lsennit-io -lsennit -Wl,-rpath,"$build_dir" -lpthread -lm -ldl
fi
# shellcheck disable=SC2086 # words
quietly "$CC" $flags -o archive program.c "$build_dir/libsennit.a" -lpthread \
	-lm -ldl
ulimit -c 0

# runs PROGRAM WHAT WHERE [HANDLER]: sets `status`, and `err` has the output.
runs()
{
	status=0
	"./$1" "$2" "$3" ${4:+"$4"} 2>err || status=$?
}

# says CALL: one line, which names the call and where it was made.
says()
{
	[ "$(grep -c "sennit: misuse of $1: " err)" -eq 1 ] || {
		cat err
		fail "$program $where: no line about $1"
	}
	case $where in
	task) grep -q '\[shop worker 0, fiber [0-9]*, thread' err ;;
	bound) grep -q '\[thread [0-9]* bound to shop' err ;;
	unbound) grep -q '\[unbound thread' err ;;
	esac || {
		cat err
		fail "$program $where: not where"
	}
}

for program in shared archive; do
	for where in task bound unbound; do
		for pair in lock:sennit_mutex_lock set:sennit_event_set \
			wait:sennit_event_wait_until \
			channel:sennit_channel_close; do
			runs $program ${pair%:*} $where
			[ $status -eq 139 ] || fail "$pair: status $status"
			says ${pair#*:}
			grep -q 'given NULL' err || fail "$pair: $(cat err)"
		done
		for own in own libc once; do
			runs $program $own $where
			[ $status -eq 139 ] || fail "$own: status $status"
			! grep -q sennit err ||
				fail "$own: a fault of the program: $(cat err)"
		done
		runs $program set $where handler
		[ $status -eq 7 ] || fail "handler: status $status"
		says sennit_event_set
		grep -q caught err || fail 'the handler of the program'
		for pair in duration:sennit_event_wait_until \
			sleep:sennit_sleep_until \
			end:sennit_scheduler_shutdown \
			loop:sennit_parallel_for; do
			runs $program ${pair%:*} $where
			case $status in
			0 | 134) ;; # as the library has assertions or not
			*) fail "$pair: status $status" ;;
			esac
			says ${pair#*:}
			grep -q 'sennit_after(5000)' err || fail "$(cat err)"
		done
		for quiet in past none; do
			runs $program $quiet $where
			[ $status -eq 0 ] || fail "$quiet: status $status"
			! grep -q sennit err || fail "$quiet: $(cat err)"
		done
	done
done

[ -e with_io ] || skip 'libsennit-io.so is not built'
program=with_io
for where in task bound unbound; do
	for pair in connect:sennit_connect_to listen:sennit_listen_at \
		line:sennit_reader_read_line spawn:sennit_process_spawn; do
		runs with_io "${pair%:*}" $where
		[ $status -eq 139 ] || fail "$pair: status $status"
		says "${pair#*:}"
		grep -q 'given NULL' err || fail "$pair: $(cat err)"
	done
done
