#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stacks.sh - the stacks that an optimised program prints of itself are right:
# with the archive and the shared library, with and without frame pointers, as
# text and as JSON, which python3 parses.
#
# Environment: CC (cc), CFLAGS (flags for linking with the library), SOURCE_DIR
# (.), BUILD_DIR (a build), LIB_DW (its options for libdw).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CFLAGS:=}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
: "${LIB_DW:=}"

[ -e "$BUILD_DIR/libsennit-diag.a" ] || skip 'libsennit-diag is not built'
[ "$LIB_DW" ] || skip 'libsennit-diag has no libdw'
needs python3
case $("$CC" -dumpmachine) in
"$(uname -m)"-*) ;;
*) skip 'the programs are for another processor' ;;
esac

cat >"$scratch/program.c" <<'END_OF_PROGRAM'
#include <sennit.h>
#include <sennit/stacks.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "\"quoted\" \\ \n\x1b[31m \xff \xc3\xa9"

static sennit_event go;
static atomic_int   stop;
static atomic_int   spins;
void recurse(int depth);
void spin(void);

__attribute__((noinline)) void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	else
		(void)!sennit_event_wait(&go);
	__asm__ volatile("");
}

/* A frame of variable size: its function needs a frame pointer. */
__attribute__((noinline)) void variable(int depth)
{
	volatile char frame[depth + 1];

	frame[0] = 0;
	recurse(depth);
	frame[0]++;
}

static void wait_task(void *depth)
{
	variable((int)(long)depth);
}

__attribute__((noinline)) void spin(void)
{
	atomic_store(&spins, 1);
	while (!atomic_load(&stop))
		;
	__asm__ volatile("");
}

static void spin_task(void *unused)
{
	(void)unused;
	spin();
	__asm__ volatile("");
}

static int blocked(sennit_scheduler *s)
{
	sennit_stats stats = { .size = sizeof(stats) };

	sennit_scheduler_get_stats(s, &stats);
	return (int)stats.fibers;
}

int main(int argc, char **argv)
{
	int               json = argc > 1 && !strcmp(argv[1], "json");
	sennit_scheduler *s;

	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = 1, .name = "a\"b")) ||
	    sennit_thread_bind(s) || sennit_function_set_name(wait_task, NAME))
		return 1;
	for (long i = 0; i < 10; i++)
		if (sennit_schedule(wait_task, (void *)i))
			return 2;
	while (blocked(s) < 10)
		usleep(1000);
	if (sennit_schedule(spin_task, NULL))
		return 3;
	while (!atomic_load(&spins))
		usleep(1000);
	if (sennit_stacks_print(s, 1, json ? SENNIT_STACKS_JSON
					   : SENNIT_STACKS_TEXT))
		return 4;
	atomic_store(&stop, 1);
	sennit_event_set(&go);
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 5 : 0;
}
END_OF_PROGRAM
cat >"$scratch/check.py" <<'END_OF_CHECK'
import json
import sys

d = json.load(sys.stdin)
assert d["format"] == "sennit-stacks" and d["version"] == 1
assert d["error"] is None, d
members = {"scheduler", "worker", "thread", "fiber", "state", "name", "task",
           "spawned_at", "deadlock", "call",
           "waits_for", "object", "since_ns", "deadline_ns", "stack", "frames",
           "rest"}
depths = []
spins = 0
for f in d["fibers"]:
    assert set(f) == members, f
    assert f["rest"] == "none", f
    assert f["scheduler"] == 'a"b', f
    assert f["since_ns"] <= d["time_ns"] + 10**10
    names = [frame["symbol"].split("+")[0] for frame in f["frames"]]
    for frame in f["frames"]:
        int(frame["address"], 16)
    if "spin" in names:
        spins += 1
        assert f["state"] == "running" and f["stack"] == "sampled", f
    elif f["worker"] is not None:
        assert f["name"] == '"quoted" \\\\ \\n\\x1b[31m \\xff \u00e9', f
        assert f["state"] == "blocked" and f["waits_for"] == "event", f
        assert f["stack"] == "suspended", f
        # In order: the wait, the program's frames, nothing unknown above.
        at = names.index("sennit_event_wait")
        depth = names.count("recurse")
        assert names[at + 1:at + 1 + depth] == ["recurse"] * depth, names
        assert names[at + 1 + depth] == "variable", names
        depths.append(depth)
    else:
        assert names[-1] in ("_start", "main") or "main" in names, names
assert sorted(depths) == list(range(1, 11)), depths
assert spins == 1, spins
END_OF_CHECK

# check NAME LIBRARY...
check() {
	name=$1
	shift
	# shellcheck disable=SC2086
	"$CC" -std=gnu11 -O2 -Wall -Wextra -rdynamic $flags $CFLAGS \
		$INCLUDES -o "$scratch/$name" \
		"$scratch/program.c" "$@" -pthread -ldl -lm
	# On a busy machine a thread may not answer in time: ask again.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$scratch/$name" json >"$scratch/json"
		grep -q '"stack": "unsampled"' "$scratch/json" || break
	done
	python3 "$scratch/check.py" <"$scratch/json" || {
		echo "$name, $flags:"
		cat "$scratch/json"
		exit 1
	}
	"$scratch/$name" text >"$scratch/text"
	if [ "$(grep -c ' waits for event 0x' "$scratch/text")" != 10 ] ||
		[ "$(grep -c ' #.* recurse+0x' "$scratch/text")" != 55 ] ||
		grep -q "$(printf '\033')" "$scratch/text"; then
		echo "$name, $flags:"
		cat "$scratch/text"
		exit 1
	fi
}
for flags in -fomit-frame-pointer -fno-omit-frame-pointer; do
	# shellcheck disable=SC2086
	check static "$BUILD_DIR/libsennit-diag.a" "$BUILD_DIR/libsennit.a" \
		$LIB_DW
	check shared -L"$BUILD_DIR" -lsennit-diag -lsennit \
		-Wl,-rpath,"$(cd "$BUILD_DIR" && pwd)"
done
echo "text and JSON are right"
