#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# profiles.sh - other programs open the profiles: pprof finds the functions and
# the labels, sennit-trace draws the folded stacks. A malloc() of the program's
# asks which task allocates, also while the library itself allocates, and while
# a profile runs. The program has no frame pointers.
#
# Environment: CC (cc), CFLAGS (flags for linking with the library), SOURCE_DIR
# (.), BUILD_DIR (a build), LIB_DW (options for its libdw; empty: it finds no
# lines).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CFLAGS:=}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
: "${LIB_DW:=}"

[ -e "$BUILD_DIR/libsennit-diag.so" ] || skip 'libsennit-diag is not built'
case $("$CC" -dumpmachine) in
"$(uname -m)"-*) ;;
*) skip 'the programs are for another processor' ;;
esac

build_dir=$(cd "$BUILD_DIR" && pwd)
cd "$scratch"

cat >program.c <<'END_OF_PROGRAM'
#define _GNU_SOURCE
#include <sennit.h>
#include <sennit/profile.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_size_t asked[2]; /* by hungry; by all others */

static void hungry(void *done);

void *malloc(size_t size)
{
	static void *(*real)(size_t);
	sennit_running r = { .size = sizeof(r) };

	if (!real)
		real = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	asked[!(sennit_fiber_running(&r) && r.task == hungry)] += size;
	return real(size);
}

static __attribute__((noinline)) void burn(void)
{
	static volatile unsigned sink;
	struct timespec t;

	do {
		for (int i = 0; i < 10000; i++)
			sink++;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (!t.tv_sec && t.tv_nsec < 400000000);
	__asm__ volatile("");
}

static void busy(void *done)
{
	burn();
	sennit_wait_group_done(done);
}

static sennit_mutex lock;
static atomic_int begun; /* lockers */

static __attribute__((noinline)) void update(void)
{
	sennit_mutex_lock(&lock);
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_mutex_unlock(&lock);
	__asm__ volatile("");
}

static void locker(void *done)
{
	begun++;
	for (int i = 0; i < 10; i++)
		update();
	sennit_wait_group_done(done);
}

static void hungry(void *done)
{
	for (int i = 0; i < 100; i++) {
		void *volatile p = malloc(1000);

		free(p);
		sennit_sleep(1000);
	}
	sennit_wait_group_done(done);
}

static int program(void *unused)
{
	sennit_wait_group done;
	sennit_task_fn *const tasks[] = { busy, locker, locker, hungry };

	(void)unused;
	sennit_wait_group_init(&done, 4);
	sennit_mutex_lock(&lock);
	for (int i = 0; i < 4; i++)
		if (sennit_schedule(tasks[i], &done))
			abort();
	while (begun < 2)
		sennit_sleep(SENNIT_MILLISECOND);
	sennit_sleep(20 * SENNIT_MILLISECOND);
	sennit_mutex_unlock(&lock);
	sennit_wait_group_wait(&done);
	return 0;
}

static void save(const char *name, int kind, int format)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || sennit_profile_write(fd, kind, format))
		abort();
	close(fd);
}

int main(void)
{
	if (sennit_profile_start(SENNIT_PROFILE_CPU | SENNIT_PROFILE_WAITS,
				 250) ||
	    sennit_run(program, NULL, SENNIT_CONFIG(.workers = 2), NULL))
		return 1;
	sennit_profile_stop();
	save("cpu", SENNIT_PROFILE_CPU, SENNIT_PROFILE_PPROF);
	save("waits", SENNIT_PROFILE_WAITS, SENNIT_PROFILE_PPROF);
	save("locks", SENNIT_PROFILE_LOCKS, SENNIT_PROFILE_PPROF);
	save("cpu.folded", SENNIT_PROFILE_CPU, SENNIT_PROFILE_FOLDED);
	save("waits.folded", SENNIT_PROFILE_WAITS, SENNIT_PROFILE_FOLDED);
	printf("%zu\n", asked[0]);
	return asked[0] >= 100000 && asked[0] < 200000 && asked[1] ? 0 : 1;
}
END_OF_PROGRAM

# shellcheck disable=SC2086 # words
quietly "$CC" -O2 -g -fomit-frame-pointer -rdynamic $CFLAGS \
	$INCLUDES -o program program.c -L"$build_dir" \
	-lsennit-diag -lsennit -Wl,-rpath,"$build_dir" -ldl -lpthread
./program >out || fail "the program, or its hook of malloc(): $(cat out)"

# --- folded stacks ----------------------------------------------------------------

grep -q '^busy;burn' cpu.folded || fail 'no busy;burn' "$(cat cpu.folded)"
grep -q '^locker;update;sennit_mutex_lock;\[mutex\] [0-9]*$' waits.folded ||
	fail 'no waits for the mutex' "$(cat waits.folded)"
grep -Evq '^[^ ].* [0-9]+$' cpu.folded waits.folded &&
	fail 'a line is not folded'
if [ -e "$build_dir/sennit-trace" ]; then
	"$build_dir/sennit-trace" flame cpu.folded >cpu.svg ||
		fail 'sennit-trace does not draw it'
	grep -q '<title>burn' cpu.svg || fail 'no burn in the picture'
fi

# --- pprof ------------------------------------------------------------------------

command -v go >/dev/null || skip 'pprof comes with go'
export HOME="$scratch" PPROF_TMPDIR="$scratch" GOFLAGS=-mod=mod GOTELEMETRY=off
go tool pprof -h >/dev/null 2>&1 || case $? in 2) ;; *) skip 'no pprof' ;; esac

# shows PATTERN OPTION... FILE
shows()
{
	pattern=$1
	shift
	go tool pprof -symbolize=none "$@" >out 2>err || fail "pprof $*" "$(cat err)"
	grep -Eq "$pattern" out || fail "pprof $* has no $pattern" "$(cat out)"
}
shows '[0-9]ms .* burn$' -top cpu
shows 'Type: cpu' -top cpu
shows ' busy$' -tagroot task -tagfocus task=busy -top cpu
shows 'samples' -sample_index=samples -top cpu
shows 'Type: wait' -top waits
shows ' sennit_sleep$' -tagfocus task=hungry -top waits
shows ' sennit_mutex_lock$' -top locks
shows ' update$' -tagfocus kind=mutex -top waits
shows 'longest:' -traces locks
shows 'kind: *mutex' -traces locks

# --- lines --------------------------------------------------------------------

# line_of TEXT FUNCTION: where the first line with the text is in the function.
line_of()
{
	awk -v text="$1" -v begin="$2(" 'index($0, begin) { inside = 1 }
		inside && index($0, text) { print NR; exit }' program.c
}
[ "$LIB_DW" ] || exit 0
shows " update .*/program.c:$(line_of sennit_mutex_lock ' update')\$" \
	-lines -top -focus=sennit_mutex_lock locks
shows " burn .*/program.c:[0-9]+\$" -lines -top cpu
