#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# backtrace.sh - gdb unwinds a started stack correctly: a backtrace ends at
# arch_start. At every instruction of arch_start and arch_switch it shows the
# function that leaves or the one that resumes, and never something else.
#
# Environment: LIB_INTERNAL (the archive with all names), CC (cc), CFLAGS (flags
# for linking with the library, such as -fsanitize=...), SOURCE_DIR (.), GDB
# (gdb), SENNIT_ARCH (portable: skipped, because no debugger unwinds libc's
# switch).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CFLAGS:=}" "${GDB:=gdb}" "${SOURCE_DIR:=.}"

needs "$GDB"
"$GDB" -nx -batch -ex 'python print("works")' 2>/dev/null | grep -q works ||
	skip "$GDB has no python"
case $("$CC" -dumpmachine) in
"$(uname -m)"-*) ;;
*) skip "$GDB cannot run programs for another processor" ;;
esac
[ "${SENNIT_ARCH:-}" != portable ] || skip "the switch is libc's"

cat >"$scratch/walk.c" <<'EOF'
#include "arch/cpu.h"

#include <fenv.h>

static _Alignas(16) char stack[65536];
static arch_stack        outer;
static arch_stack        inner;
static volatile int      steps;

__attribute__((noinline)) void innermost(void)
{
	steps++;
}

__attribute__((noinline)) void on_the_stack(void)
{
	innermost();
	arch_switch(&inner, outer);
	steps++;
}

static arch_stack entry(void *argument)
{
	(void)argument;
	on_the_stack();
	return outer;
}

/* Its direction differs, so that the start, the end and every switch load. */
static uint64_t control_of_the_stack(void)
{
	uint64_t control;

	fesetround(FE_UPWARD);
	control = arch_fp_control();
	fesetround(FE_TONEAREST);
	return control;
}

__attribute__((noinline)) void on_main(void)
{
	arch_start(&outer, stack + sizeof(stack), entry, NULL,
		   control_of_the_stack());
	arch_switch(&outer, inner);
	steps++;
}

int main(void)
{
	on_main();
	return 0;
}
EOF

# Without frame pointers nothing but the CFI leads the way.
# shellcheck disable=SC2086
"$CC" -std=gnu11 -D_GNU_SOURCE -g -O1 -fomit-frame-pointer $CFLAGS \
	-fno-optimize-sibling-calls $INCLUDES \
	-I"$SOURCE_DIR/core/src/kernel" -I"$SOURCE_DIR/core/src" \
	-o "$scratch/walk" "$scratch/walk.c" \
	"$LIB_INTERNAL" -pthread -lm

cat >"$scratch/script" <<'EOF'
set pagination off
set confirm off
set width 0
set startup-with-shell off
python
def name():
    return gdb.newest_frame().name() or "??"

def step():
    gdb.execute("stepi", to_string=True)

def run_to(place):
    gdb.execute("tbreak " + place, to_string=True)
    gdb.execute("continue", to_string=True)

# One line per instruction until the switch has returned.
def walk():
    while name() in ("arch_start", "arch_switch"):
        callers = []
        frame = gdb.newest_frame()
        while frame is not None:
            callers.append(frame.name() or "??")
            frame = frame.older()
        print("step", " ".join(callers))
        step()

gdb.execute("tbreak main", to_string=True)
gdb.execute("run", to_string=True)
run_to("*arch_start")
walk()
run_to("innermost")
gdb.execute("bt")
run_to("*arch_switch")
walk()
run_to("*arch_switch")
walk()
while name() != "arch_start":
    step()
walk()
end
kill
EOF

DEBUGINFOD_URLS='' "$GDB" -nx -batch -x "$scratch/script" "$scratch/walk" \
	>"$scratch/out" 2>&1 || :

fail() {
	echo "$1"
	cat "$scratch/out"
	exit 1
}

if ! grep -q '^step ' "$scratch/out" && grep -q -i 'trace' "$scratch/out"; then
	cat "$scratch/out"
	skip "gdb may not trace here"
fi

! grep -i -e '??' -e 'backtrace stopped' -e 'previous frame' \
	-e 'corrupt' -e 'cannot access' "$scratch/out" ||
	fail "gdb lost its way"

awk '
	/^#/ { got = got (($3 == "in") ? $4 : $2) " " }
	END {
		exit got != "innermost on_the_stack entry arch_start "
	}' "$scratch/out" || fail "the backtrace of a started stack is wrong"

# Each of these must occur, and nothing else.
awk '
	BEGIN {
		want["arch_start on_main main"]
		want["arch_start"]
		want["arch_switch on_the_stack entry arch_start"]
		want["arch_switch on_main main"]
	}
	$1 != "step" { next }
	{ sub(/^step /, ""); seen[$0]++ }
	!($0 in want) { print "wrong: " $0; bad = 1 }
	END {
		for (w in want) {
			if (seen[w] < 2) {
				print "not seen: " w
				bad = 1
			}
		}
		exit bad
	}' "$scratch/out" || fail "a backtrace within a switch is wrong"

echo "$(grep -c '^step ' "$scratch/out") instructions, each with its callers"
