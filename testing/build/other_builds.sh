#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# other_builds.sh - gdb and lldb say when the libsennit of a process or a core
# file is another build than the file that they take symbols from, as when the
# library was installed again meanwhile, and when a process contains two. The
# stacks that such a process prints of itself do not have names of the new file.
#
# Environment: CC (cc), CFLAGS (flags for linking with the library), SOURCE_DIR
# (.), BUILD_DIR (a build), LIB_STATIC, GDB (gdb), LLDB (lldb-14 lldb-16 lldb:
# those that are installed), LIB_DW (options for libsennit-diag's libdw).
set -eu
. "$(dirname "$0")/../script.sh"
. "$(dirname "$0")/../../diag/test/debugger/debuggers.sh"

: "${LIB_DW:=}"
[ -n "$GDB$lldbs" ] || skip "no gdb and no lldb with Python"
tools=$SOURCE_DIR/diag/debugger

# fails WHY FILE: with what the file says.
fails() {
	cat "$scratch/$2"
	fail "$1"
}

# --- four builds --------------------------------------------------------

# build NAME OPTION...: $scratch/NAME.so, a libsennit. Data.o comes last.
build() {
	build_name=$1
	build_last=
	[ "$1" != moved ] || build_last=$scratch/data.o
	shift
	# shellcheck disable=SC2086
	"$CC" -shared $CFLAGS -o "$scratch/$build_name.so" "$@" \
		-Wl,-soname,libsennit.so.0 -Wl,--whole-archive "$LIB_STATIC" \
		-Wl,--no-whole-archive $build_last -pthread -ldl -lm
}

first=1111111111111111111111111111111111111111
second=2222222222222222222222222222222222222222
third=3333333333333333333333333333333333333333
# Gdb makes up for one distance between the addresses of the two; so there are
# several.
echo 'void pad(void); void pad(void) { __asm__(".fill 66000"); }' |
	"$CC" -x c -fPIC -c -o "$scratch/code.o" -
echo 'extern void *const padding[99];
void *const padding[99] = { (void *)padding };' |
	"$CC" -x c -fPIC -c -o "$scratch/data.o" -
build first "-Wl,--build-id=0x$first"
build same "-Wl,--build-id=0x$second"
build shifted "-Wl,--build-id=0x$third" "$scratch/code.o"
build moved "-Wl,--build-id=0x$third" "$scratch/code.o"

# shellcheck disable=SC2086
"$CC" -std=gnu11 -O2 -g0 -Wall -Wextra $CFLAGS $INCLUDES \
	-o "$scratch/fibers" "$SOURCE_DIR/diag/test/debugger/fibers.c" \
	"$scratch/first.so" -Wl,-rpath,"$scratch/lib" -pthread
mkdir "$scratch/lib"

# install BUILD: as a package manager does; the old file lives on, nameless.
install() {
	cp "$scratch/$1.so" "$scratch/lib/new"
	mv "$scratch/lib/new" "$scratch/lib/libsennit.so.0"
}

# --- debuggers -----------------------------------------------------------

with_gdb() {
	"$GDB" -nx -batch -iex 'set pagination off' -iex 'set width 0' \
		-iex "source $tools/sennit_gdb.py" "$@" \
		>"$scratch/out" 2>&1 || :
}

# ask DEBUGGER: the fibers of $pid.
ask() {
	if [ "$1" = gdb ]; then
		with_gdb -p "$pid" -ex 'info fibers'
		return
	fi
	lldb=$1
	run_lldb -p "$pid" \
		-o "command script import $tools/sennit_lldb.py" \
		-o fibers >"$scratch/out" 2>&1 || :
}

# list DEBUGGER: the same. Lldb gives up early where all CPUs are busy.
list() {
	for attempt in 1 2 3; do
		ask "$1"
		grep -q -i -e 'ptrace: ' -e 'attach failed' "$scratch/out" ||
			return 0
		sleep "$attempt"
	done
	skip "$1 is not let in: $(grep -i -e 'ptrace: ' -e 'attach failed' \
		"$scratch/out")"
}

# has TEXT, lacks TEXT: one line of the output has it; none has.
has() {
	[ "$(grep -c -F -e "$1" "$scratch/out")" = 1 ] ||
		fails "$what: not one line with: $1" out
}
lacks() {
	! grep -q -F -e "$1" "$scratch/out" ||
		fails "$what: a line with: $1" out
}
rows() {
	[ "$(grep -c -E ' (blocked|ready|runs) .*[0-9] s ' "$scratch/out")" \
		= "$1" ] || fails "$what: not $1 fibers" out
}

for debugger in ${GDB:+gdb} $lldbs; do
	install first
	start "$scratch/fibers"
	what="$debugger, the build itself"
	list "$debugger"
	lacks 'another'
	rows 10
	what="$debugger, a build whose addresses are the same"
	install same
	list "$debugger"
	has "another build of libsennit (build id $first, expected $second"
	rows 10
	what="$debugger, a build whose functions are elsewhere"
	install shifted
	list "$debugger"
	has "another build of libsennit (build id $first, expected $third"
	what="$debugger, a build whose addresses are others"
	install moved
	list "$debugger"
	has "another build of libsennit (build id $first, expected $third"
	lacks Traceback
	rows 0
	stop
done

if [ -n "$GDB" ]; then
	what="a core file"
	install first
	start "$scratch/fibers"
	with_gdb -p "$pid" -ex "fiber gcore $scratch/core"
	stop
	with_gdb "$scratch/fibers" "$scratch/core" -ex 'info fibers'
	lacks 'another'
	rows 10
	install moved
	with_gdb "$scratch/fibers" "$scratch/core" -ex 'info fibers'
	has "another build of libsennit (build id $first, expected $third"
	rows 0
fi

# --- two in one process --------------------------------------------------

cat >"$scratch/waits.h" <<'END'
#include <sennit.h>
#include <stdlib.h>

static sennit_scheduler *scheduler;
static sennit_event      never;

static void waits(void *unused)
{
	(void)unused;
	(void)!sennit_event_wait(&never);
}

static void note(void *blocked, const sennit_report_entry *e)
{
	*(int *)blocked += e->state == SENNIT_REPORT_BLOCKED;
}

static void begin(const char *name)
{
	const sennit_task t = { .run = waits };
	int               blocked = 0;

	if (sennit_scheduler_create(
		    &scheduler, SENNIT_CONFIG(.workers = 1, .name = name)) ||
	    sennit_schedule_task_on(scheduler, &t))
		abort();
	while (!blocked)
		sennit_report_visit(scheduler, note, &blocked);
}
END
cat >"$scratch/plugin.c" <<'END'
#include "waits.h"

void plugin(void);
void plugin(void)
{
	begin("plugins");
}
END
cat >"$scratch/host.c" <<'END'
#include "waits.h"
#include <dlfcn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

	alarm(300);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	((void (*)(void))dlsym(library, "plugin"))();
	if (argc > 2)
		begin("hosts");
	puts("settled");
	fflush(stdout);
	for (;;)
		pause();
}
END
install first
# shellcheck disable=SC2086
"$CC" -std=gnu11 -shared -fPIC $CFLAGS $INCLUDES \
	-o "$scratch/plugin.so" "$scratch/plugin.c" -Wl,-Bsymbolic \
	"-Wl,--build-id=0x$third" "$LIB_STATIC" -pthread -ldl -lm
# shellcheck disable=SC2086
"$CC" -std=gnu11 $CFLAGS $INCLUDES -o "$scratch/host" \
	"$scratch/host.c" "$scratch/first.so" -Wl,-rpath,"$scratch/lib" \
	-pthread -ldl

for debugger in ${GDB:+gdb} $lldbs; do
	what="$debugger, two libraries, of which one is used"
	start "$scratch/host" "$scratch/plugin.so"
	list "$debugger"
	has 'scheduler plugins'
	has "libsennit.so.0 contains another libsennit (build id $first)"
	rows 1
	stop
	what="$debugger, two libraries"
	start "$scratch/host" "$scratch/plugin.so" both
	list "$debugger"
	has 'scheduler hosts'
	lacks 'scheduler plugins'
	has "plugin.so contains another libsennit (build id $third)"
	rows 1
	stop
done

# --- of itself -----------------------------------------------------------

[ -e "$BUILD_DIR/libsennit-diag.a" ] && [ "$LIB_DW" ] || exit 0
cat >"$scratch/self.c" <<'END'
#include "waits.h"
#include <sennit/stacks.h>
#include <stdio.h>

int main(void)
{
	begin("self");
	puts("settled");
	fflush(stdout);
	(void)getchar(); /* meanwhile the library is replaced */
	return sennit_stacks_print(NULL, 1, SENNIT_STACKS_TEXT);
}
END
# shellcheck disable=SC2086
"$CC" -std=gnu11 $CFLAGS $INCLUDES -o "$scratch/self" \
	"$scratch/self.c" "$BUILD_DIR/libsennit-diag.a" "$scratch/first.so" \
	-Wl,-rpath,"$scratch/lib" $LIB_DW -pthread -ldl
what="a process whose program and library were replaced"
install first
mkfifo "$scratch/go"
"$scratch/self" <"$scratch/go" >"$scratch/out" 2>&1 &
pid=$!
exec 9>"$scratch/go"
while ! grep -q settled "$scratch/out"; do sleep 0.1; done
install shifted
cp "$scratch/host" "$scratch/new"
mv "$scratch/new" "$scratch/self"
echo >&9
wait "$pid"
pid=
has 'names are missing: libsennit.so.0: its file was removed or replaced'
# The program's static functions have names, and what the library exports.
has ' waits+0x'
has ' sennit_event_wait+0x'
# Nothing has a name of the new file.
[ "$(grep -c '^  #.* libsennit.so.0+0x' "$scratch/out")" -gt 2 ] ||
	fails "$what: names of another build" out
! grep '^  #' "$scratch/out" | grep -v -e ' libsennit.so.0+0x' \
	-e ' sennit_event_wait+0x' -e ' waits+0x' -e '\.so' -e ' syscall+0x' \
	-e clone || fails "$what: names of another build" out
