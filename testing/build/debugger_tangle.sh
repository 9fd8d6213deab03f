#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# debugger_tangle.sh - gdb and lldb show 100,000 fibers one by one and merged,
# choose among them, and name deadlocks and holders, in a process and in a core
# file of `fiber gcore`. A core file without the fibers' stacks is named. Numbers
# that two schedulers have are refused. Whatever is overwritten, the commands
# end with lines of their own. The program is diag/test/debugger/tangle.c, whose
# waits and stacks are known, from gcc and clang, optimised and not.
#
# Environment: CC (cc), CFLAGS (flags for linking with the library), SOURCE_DIR
# (.), BUILD_DIR (a build), LIB_STATIC, GDB (gdb), LLDB (lldb-14 lldb-16 lldb:
# those that are installed), CROWD (100000, or 10000 where memory is short).
set -eu
. "$(dirname "$0")/../script.sh"
. "$(dirname "$0")/../../diag/test/debugger/debuggers.sh"

needs python3
[ -n "$GDB" ] || skip "no gdb with Python"
memory=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
: "${CROWD:=$([ "$memory" -gt 4000000 ] && echo 100000 || echo 10000)}"
tools=$SOURCE_DIR/diag/debugger

# with_gdb TARGET... -- COMMAND...: prints what gdb prints.
with_gdb() {
	with_gdb_targets=
	while [ "$1" != -- ]; do
		with_gdb_targets="$with_gdb_targets $1"
		shift
	done
	shift
	for with_gdb_command; do
		set -- "$@" -ex "$with_gdb_command"
		shift
	done
	# shellcheck disable=SC2086
	"$GDB" -nx -batch -iex 'set pagination off' -iex 'set width 0' \
		-iex "source $tools/sennit_gdb.py" $with_gdb_targets "$@" \
		>"$scratch/out" 2>&1 || :
	! grep -q -i 'ptrace: ' "$scratch/out" ||
		skip "tracing is not permitted"
	! grep -q Traceback "$scratch/out" || shown "a traceback"
}

# with_lldb TARGET... -- COMMAND...
with_lldb() {
	with_lldb_targets=
	while [ "$1" != -- ]; do
		with_lldb_targets="$with_lldb_targets $1"
		shift
	done
	shift
	for with_lldb_command; do
		set -- "$@" -o "$with_lldb_command"
		shift
	done
	# shellcheck disable=SC2086
	run_lldb $with_lldb_targets \
		-o "command script import $tools/sennit_lldb.py" "$@" \
		>"$scratch/out" 2>&1 || :
	! grep -q Traceback "$scratch/out" || shown "a traceback"
}

shown() {
	head -c 20000 "$scratch/out"
	fail "$what: $1"
}

# says TEXT [COUNT]: so many lines of the output match.
says() {
	[ "$(grep -c -E -e "$1" "$scratch/out")" = "${2:-1}" ] ||
		shown "not ${2:-1} times: $1"
}

# list CROWD [CALLS]: the output has the list of the program with that crowd. If
# CALLS is "some", the names of public functions may be missing.
list() {
	[ "${2:-all}" = some ] && maybe='?' || maybe=
	says "^ +[0-9]+ +0\\.[0-9]+ +[0-9]+ +blocked +crowd_task +event 0x[0-9a-f]+ +[0-9.]+ s  (sennit_event_wait < )${maybe}crowd_calls\$" "$1"
	says " transfer_task +mutex .* s  (sennit_mutex_lock < )${maybe}take\$"
	says " opener_task +group .* s  (sennit_group_wait < )${maybe}opener_task\$"
	says " reader_task +event .* s  (sennit_event_wait < )${maybe}reader_task\$" 2
	says " writer_task +reader-writer lock .* s  (sennit_rwlock_lock < )${maybe}writer_task\$"
	says '^deadlock of 2 fibers:$' 2
	says '^  fiber [0-9]+ \(bank, worker 0, fiber 1\): transfer_task: blocked, waits for mutex 0x[0-9a-f]+, held by fiber [0-9]+$'
	says '^  fiber [0-9]+ \(bank, worker 0, fiber [0-9]+\): audit_task: blocked, waits for mutex .*, held by fiber [0-9]+$'
	says '^  fiber .*: opener_task: .* group .*, with the member fiber [0-9]+$'
	says '^  fiber .*: member: .* mutex .*, held by fiber [0-9]+$'
	says '^reader-writer lock 0x[0-9a-f]+: held by fiber [0-9]+ \([b0-9.]+\): reader_task and 1 more$'
	! grep -q '^sennit: ' "$scratch/out" || shown "a fault"
}

# merged CROWD: the output is the JSON of the merged stacks of that program.
merged() {
	grep '^{"format": "sennit-merged-stacks"' "$scratch/out" \
		>"$scratch/json" || shown "no JSON"
	python3 - "$1" "$scratch/json" <<-'END' || shown "merged stacks"
	import collections
	import json
	import sys

	crowd = int(sys.argv[1])
	groups = json.load(open(sys.argv[2]))["groups"]
	found = collections.Counter()
	for g in groups:
	    names = [f["symbol"] for f in g["frames"] if not f["library"]]
	    if g["task"] is None:
	        continue
	    found[g["task"], g["waits_for"], g["call"],
	          " ".join(names)] += g["count"]
	    assert g["state"] == "blocked", g
	    assert g["stack"] in ("suspended", "sampled"), g
	    assert g["rest"] == "none" and g["longest"]["fiber"], g
	    assert 0 <= g["longest_ns"] <= g["waited_ns"], g
	lock, wait = "sennit_mutex_lock", "sennit_event_wait"
	wanted = collections.Counter({
	    ("transfer_task", "mutex", lock, "take transfer_task"): 1,
	    ("audit_task", "mutex", lock, "take audit_task"): 1,
	    ("opener_task", "group", "sennit_group_wait", "opener_task"): 1,
	    ("member", "mutex", lock, "take member"): 1,
	    ("reader_task", "event", wait, "reader_task"): 2,
	    ("writer_task", "reader-writer lock", "sennit_rwlock_lock",
	     "writer_task"): 1})
	for depth in range(5):
	    names = " ".join(["crowd_calls"] * (depth + 1) + ["crowd_task"])
	    wanted["crowd_task", "event", wait, names] = crowd // 5
	assert found == wanted, (found - wanted, wanted - found)
	END
	echo "$what: ok"
}

# --- 100,000 fibers --------------------------------------------------------------

compile_for_debuggers tangle "$SOURCE_DIR/diag/test/debugger/tangle.c" -O2
start "$scratch/tangle" "$CROWD"
what="$CROWD fibers, gdb"
with_gdb -p $pid -- 'info fibers' 'info fibers -json'
list "$CROWD"
merged "$CROWD"
for lldb in $lldbs; do
	what="$CROWD fibers, $lldb"
	with_lldb -p $pid -- fibers 'fibers -json'
	list "$CROWD"
	merged "$CROWD"
done
what="$CROWD fibers, chosen"
with_gdb -p $pid -- 'info fibers -folded wait=event task=crowd_*' \
	'info fibers state=ready' 'info fibers state=blocked wait=mutex'
says "^crowd_task;crowd_calls;sennit_event_wait;\\(event\\) $((CROWD / 5))\$"
says '^crowd_task;(crowd_calls;)+sennit' 5
says ' ready ' 0
says ' blocked +[a-z_]+ +mutex ' 3
stop

# --- choosing, and core files ------------------------------------------------------

for compiler in "$CC" clang; do
	command -v "$compiler" >/dev/null || continue
	for flags in '-O2' '-O0 -g'; do
		# shellcheck disable=SC2086
		CC=$compiler compile_for_debuggers small \
			"$SOURCE_DIR/diag/test/debugger/tangle.c" $flags
		start "$scratch/small" 50
		what="$compiler $flags"
		with_gdb -p $pid -- 'info fibers' 'info fibers -json' \
			"fiber gcore $scratch/core"
		list 50
		merged 50
		what="$compiler $flags, core"
		with_gdb "$scratch/small" "$scratch/core" -- 'info fibers' \
			'info fibers -json'
		list 50
		merged 50
		for lldb in $lldbs; do
			what="$compiler $flags, core, $lldb"
			with_lldb "$scratch/small" -c "$scratch/core" -- \
				fibers 'fibers -json'
			list 50
			merged 50
		done
		stop
	done
done

# The library in one file: public functions are inlined. Without debug
# information nothing tells their names.
quietly python3 "$SOURCE_DIR/tools/amalgamate" "$scratch/one"
cat >"$scratch/one/one.c" <<'END'
#define _GNU_SOURCE
#include <sys/prctl.h>
#include "sennit.c"
#include "tangle.c"
END
# shellcheck disable=SC2086
quietly "$CC" -std=gnu11 -w -O2 -g $CFLAGS -I"$scratch/one" \
	-I"$SOURCE_DIR/diag/test/debugger" -o "$scratch/whole" \
	"$scratch/one/one.c" -pthread -ldl -lm
start "$scratch/whole" 50
what="one file"
with_gdb -p $pid -- 'info fibers' 'info fibers -json'
list 50
merged 50
stop
strip --strip-debug "$scratch/whole"
start "$scratch/whole" 50
what="one file, without debug information"
with_gdb -p $pid -- 'info fibers'
list 50 some
stop

start "$scratch/small" 50
what="words"
with_gdb -p $pid -- 'fiber 0.1' 'info fibers stat=x' 'info fibers state=x' \
	"gcore $scratch/plain"
says '^several fibers are 0\.1: use their numbers$'
says '^fiber [0-9]+ \(bank, worker 0, fiber 1\): transfer_task: '
says '^fiber [0-9]+ \(shop, worker 0, fiber 1\): reader_task: '
says '^fibers: what is stat=x\? '
says '^fibers: a state is runs, ready or blocked$'
with_gdb -p $pid -- 'set language rust' 'info fibers' 'info fibers -json'
list 50
merged 50

what="the frame of the program"
with_gdb -p $pid -- 'info fibers task=audit_task' 'fiber 2' 'bt 2' \
	'set sennit-library on' 'bt 2' up
says '^#[0-9]+ .* take \(' 2       # fiber, bt
says '^#[0-9]+ .* audit_task \(' 2 # bt, up

# gcore stops at the first guard page where guards are part of the mapping.
what="core of gcore"
with_gdb "$scratch/small" "$scratch/plain" -- 'info fibers'
grep -q 'crowd_task' "$scratch/out" ||
	says 'the core file has only zeroes there, and lacks this and other stacks. gdb.s gcore leaves them out' 2
stop

# --- damage ------------------------------------------------------------------------

start "$scratch/small" 20
what="damage"
cat >"$scratch/damage.py" <<'END'
import random
import struct

import gdb
import sennit_fibers
import sennit_gdb

print("seed", SEED)
random.seed(SEED)
memory = gdb.selected_inferior()
clean = gdb.execute("info fibers", to_string=True)
for pattern in range(200):
    process = sennit_gdb.look()
    places = [(f.address, process.d.fiber_size) for f in process.fibers()]
    places += [(f.saved, 256) for f in process.met if f.saved]
    places += [(w.address, process.d.worker_size) for w in process.workers]
    kept = []
    for _ in range(random.choice((1, 1, 3, 30))):
        start, size = random.choice(places)
        at = start + random.randrange(size // 8) * 8
        kept.append((at, bytes(memory.read_memory(at, 8))))
        value = random.choice((0, 8, 2**64 - 1, random.getrandbits(64), start,
                               random.choice(places)[0], at, 0x10101010))
        memory.write_memory(at, struct.pack("<Q", value))
    for command in ("info fibers", "info fibers -merged", "fiber 1", "bt",
                    "fiber none"):
        try:
            gdb.execute(command, to_string=True)
        except gdb.error as problem:
            assert "Python" not in str(problem), (pattern, command, problem)
    for at, old in reversed(kept):
        memory.write_memory(at, old)
again = gdb.execute("info fibers", to_string=True)
assert clean.count("crowd_task") == 20, clean
assert again.count("crowd_task") == 20, again
print("200 patterns: ok")

# The fibers on both sides of a record that is overwritten are listed.
process = sennit_gdb.look()
crowd = [f for f in process.fibers() if f.task and
         process.function(f.task) == "crowd_task"]
memory.write_memory(crowd[9].address, b"\xff" * process.d.fiber_size)
lines = gdb.execute("info fibers", to_string=True)
assert lines.count(" crowd_task ") == 19, lines
assert lines.count("it does not belong to the worker: memory is") == 1, lines
print("both sides: ok")
END
with_gdb -p $pid -- "python SEED = ${SEED:-$$}" "source $scratch/damage.py"
says '^200 patterns: ok$'
says '^both sides: ok$'
echo "damage: ok"
stop
