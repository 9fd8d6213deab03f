#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# probes.sh - the installed libraries contain the static probes with their
# arguments, as readelf lists them; a program that has a probe of its own links to
# the static library, with each linker; and where the kernel permits, bpftrace
# sees each task, wait and wake of diag/test/tracing/observed.c. gdb stops at a
# probe.
#
# Environment: CC (cc), CFLAGS, SOURCE_DIR (.), BUILD_DIR, LIB_STATIC,
# LIB_SHARED, BPFTRACE (bpftrace), GDB (gdb).
set -eu

: "${CC:=cc}" "${CFLAGS:=}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
: "${LIB_STATIC:=$BUILD_DIR/libsennit.a}"
: "${LIB_SHARED:=$BUILD_DIR/libsennit.so}"
: "${BPFTRACE:=bpftrace}" "${GDB:=gdb}"
DEBUGINFOD_URLS=
export DEBUGINFOD_URLS

skip()
{
	echo "skipped: $*"
	exit 77
}

command -v readelf >/dev/null || skip 'no readelf'
echo '#include <sys/sdt.h>' | "$CC" -fsyntax-only -xc - 2>/dev/null ||
	skip 'no sys/sdt.h (Debian package systemtap-sdt-dev)'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
	echo "$1"
	cat "$work/out"
	exit 1
}

# --- the notes: the name of each probe and the number of its arguments -------

cat >"$work/expected" <<'END'
overflow 4
park 2
steal 3
task__begin 4
task__end 3
wait 5
wake 4
END

# shellcheck disable=SC2086
"$CC" -std=gnu11 -O2 -Wall -Wextra $CFLAGS $INCLUDES \
	-o "$work/observed" "$SOURCE_DIR/diag/test/tracing/observed.c" \
	"$LIB_STATIC" -pthread -ldl -lm

# --- a probe of the program ---------------------------------------------------

cat >"$work/own.c" <<'END'
#include <sennit.h>
#include <sys/sdt.h>

static int program(void *argument)
{
	DTRACE_PROBE1(mine, here, argument);
	return 0;
}

int main(void)
{
	return sennit_run(program, NULL, NULL, NULL);
}
END
for linker in bfd gold lld; do
	command -v "ld.$linker" >/dev/null || continue
	for option in -Wl,--as-needed -Wl,--gc-sections; do
		# shellcheck disable=SC2086
		"$CC" $CFLAGS $INCLUDES "-fuse-ld=$linker" $option \
			-o "$work/own" "$work/own.c" "$LIB_STATIC" \
			-pthread -ldl -lm >"$work/out" 2>&1 ||
			fail "$linker does not link it with $option"
		"$work/own" || fail "linked by $linker it ends with $?"
		LC_ALL=C readelf -n "$work/own" >"$work/out"
		[ "$(grep -c 'Provider: mine' "$work/out")" = 1 ] ||
			fail "linked by $linker it has lost its probe"
	done
done

# --- the notes ----------------------------------------------------------------

for file in "$LIB_SHARED" "$work/observed"; do
	LC_ALL=C readelf -n "$file" >"$work/out"
	awk '
	$1 == "Provider:" { provider = $2 }
	$1 == "Name:" { name = $2 }
	$1 == "Location:" && $6 ~ /^0x0*$/ { print "no semaphore:", name }
	$1 == "Arguments:" && provider == "sennit" { print name, NF - 1 }' \
		"$work/out" | sort -u >"$work/probes"
	diff "$work/expected" "$work/probes" ||
		fail "$file has other probes"
done
echo "$(wc -l <"$work/probes") probes, with their arguments"

# --- gdb ------------------------------------------------------------------------

if command -v "$GDB" >/dev/null; then
	"$GDB" -nx -batch -ex 'set breakpoint pending on' \
		-ex 'break -probe-stap sennit:task__end' -ex run \
		-ex 'print $_probe_argc' "$work/observed" \
		>"$work/out" 2>&1 || :
	if grep -q 'ptrace\|not being run' "$work/out"; then
		echo 'gdb: left out, it may not run programs here'
	else
		grep -q '^\$1 = 3$' "$work/out" ||
			fail 'gdb does not stop at the probe'
		echo 'gdb stops at a probe'
	fi
else
	echo 'gdb: left out, not installed'
fi

# --- bpftrace -------------------------------------------------------------------

command -v "$BPFTRACE" >/dev/null || {
	echo 'bpftrace: left out, not installed'
	exit 0
}
"$BPFTRACE" -e "usdt:$work/observed:sennit:park { exit(); }
	BEGIN { exit(); }" >"$work/out" 2>&1 || {
	echo "bpftrace: left out, the kernel does not permit it:" \
		"$(tail -n 1 "$work/out")"
	exit 0
}
probe=usdt:$work/observed:sennit
timeout 60 "$BPFTRACE" -c "$work/observed" -e "
$probe:task__begin { @begin[str(arg3)] = count(); }
$probe:task__end   { @end = count(); }
$probe:wait        { @wait[arg2] = count(); }
$probe:wake        { @wake = count(); }" >"$work/out" 2>&1 ||
	fail 'bpftrace failed'
# 300 tasks and the one that makes them, which sleeps (6) and waits for a wait
# group (2); 100 wait for an event (1).
for line in '@begin\[pass\]: 300' '@end: 301' '@wait\[1\]: 100' \
	'@wait\[2\]: 1' '@wait\[6\]: 1' '@wake: 102'; do
	grep -q "^$line\$" "$work/out" || fail "bpftrace: no line $line"
done
echo 'bpftrace sees each task, wait and wake'
