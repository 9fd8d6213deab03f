#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# debuggers.sh - gdb and lldb list the fibers of a running process and of a core
# file, with the task, the state, the wait and the function of each, and show
# the backtrace of each. The program is diag/test/debugger/fibers.c, optimised and
# without debug information, with the archive and with the installed shared
# library, whose script gdb loads by itself. What is not as it should be in the
# process is named in one line.
#
# Environment: CC (cc), CFLAGS (flags for linking with the library), SOURCE_DIR
# (.), BUILD_DIR (a build), LIB_STATIC, GDB (gdb), LLDB (lldb-14 lldb-16 lldb:
# those that work).
set -eu

. "$(dirname "$0")/../script.sh"
. "$(dirname "$0")/../../diag/test/debugger/debuggers.sh"

[ -n "$GDB$lldbs" ] || skip "no gdb and no lldb with Python"

prefix=$scratch/prefix
flock "$BUILD_DIR/install.lock" cmake --install "$BUILD_DIR" --prefix "$prefix" >"$scratch/log" 2>&1 || {
	cat "$scratch/log"
	exit 1
}
scripts=$prefix/share/sennit/$(sh "$SOURCE_DIR/tools/abi" version)
lib=$(dirname "$(find "$prefix" -name libsennit.so)")

compile_for_debuggers static "$SOURCE_DIR/diag/test/debugger/fibers.c" -O2
# shellcheck disable=SC2086
"$CC" -std=gnu11 -O2 -Wall -Wextra $CFLAGS $INCLUDES \
	-o "$scratch/shared" "$SOURCE_DIR/diag/test/debugger/fibers.c" \
	-L"$lib" -lsennit -Wl,-rpath,"$lib" -pthread

fail() {
	echo "$1"
	cat "$scratch/out"
	exit 1
}

# begin NAME: starts the program where its core file is to be.
begin() {
	# shellcheck disable=SC2016 # of the inner shell
	start sh -c 'ulimit -c unlimited 2>/dev/null || :
		cd "$1" && exec "./$2"' - "$scratch" "$1"
}

# with_gdb NAME MORE...: the lists, and the registers of marks_calls.
with_gdb() {
	name=$1
	shift
	cat >"$scratch/marks.py" <<-END
	import gdb
	import sennit_gdb
	for f in sennit_gdb.look().fibers():
	    if gdb.execute("info symbol %#x" % f.task,
	                   to_string=True).startswith("marks_task"):
	        gdb.execute("fiber %d" % f.number, to_string=True)
	frame = gdb.selected_frame()
	while frame is not None and frame.name() != "marks_calls":
	    frame = frame.older()
	for name in ("rbx", "r12", "r13", "r14", "r15"):
	    print("mark %s %x" % (name, int(frame.read_register(name))))
	END
	loads="-iex 'add-auto-load-safe-path $prefix' \
		-iex 'add-auto-load-scripts-directory \
		$prefix/share/gdb/auto-load'"
	[ "$name" = shared ] ||
		loads="-iex 'source $scripts/sennit_gdb.py' \
		-iex 'python import sys; sys.path.insert(0, \"$scripts\")'"
	set -- "$@" -ex 'info fibers' -ex 'fiber apply all bt'
	[ "$(uname -m)" != x86_64 ] || set -- "$@" -ex "source $scratch/marks.py"
	eval "\"\$GDB\" -nx -batch -iex 'set pagination off' -iex 'set width 0' \
		$loads \"\$scratch/$name\" \"\$@\"" >"$scratch/out" 2>&1 || :
}

with_lldb() {
	shift
	cat >"$scratch/marks.py" <<-END
	import lldb
	import sennit_lldb
	process = sennit_lldb.look(lldb.debugger)
	for f in process.fibers():
	    if process.target.function(f.task) != "marks_task":
	        continue
	    for frame in sennit_lldb.thread_of(lldb.debugger, process, f):
	        if frame.GetFunctionName() == "marks_calls":
	            for name in ("rbx", "r12", "r13", "r14", "r15"):
	                print("mark %s %x" % (name, frame.FindRegister(
	                    name).GetValueAsUnsigned()))
	END
	set -- "$@" -o "command script import $scripts/sennit_lldb.py" \
		-o fibers -o 'fiber apply all bt'
	[ "$(uname -m)" != x86_64 ] ||
		set -- "$@" -o "command script import $scratch/marks.py"
	run_lldb "$@" >"$scratch/out" 2>&1 || :
}

# object NAME: its address, as the program has printed it.
object() {
	sed -n "s/^$1 //p" "$scratch/said"
}

# row FIBER STATE TASK WAIT WHERE: the list has such a line.
row() {
	grep -q -E "^\*? +[0-9]+ +$1 +[0-9]+ +$2 +$3 +$4 +[0-9]+\.[0-9]{3} s +$5\$" \
		"$scratch/out" || fail "$what: the list lacks $3, $2: $4"
}

# frames TITLE NAMES: the fiber with this title has these functions, in this
# order, innermost first, one after the other.
frames() {
	awk -v title="$1" -v names=" $2 " '
		/^fiber [0-9]+ \(/ {
			if (inside && index(got, names)) found = 1
			inside = $0 ~ title
			got = " "
		}
		/^ *#[0-9]+ / {
			got = got (($3 == "in") ? $4 : $2) " "
		}
		/frame #[0-9]+: / {
			sub(/.*`/, "")
			sub(/[ (@].*/, "")
			got = got $0 " "
		}
		END {
			if (inside && index(got, names)) found = 1
			exit !found
		}' "$scratch/out" || fail "$what: the frames of $1 are not $2"
}

# check WHAT: the output is what the program knows.
check() {
	what=$1
	! grep -q -i -e traceback -e '^sennit:' "$scratch/out" ||
		fail "$what: a fault"
	row '0\.[0-9]+' blocked 'first\\x09in line \(mutex_task\)' \
		"mutex $(object mutex)" 'sennit_mutex_lock < mutex_calls'
	row '0\.[0-9]+' blocked event_task "event $(object event)" \
		'sennit_event_wait < event_calls'
	row '0\.[0-9]+' blocked timer_task 'the end of its sleep' \
		'sennit_sleep < timer_calls'
	row '0\.[0-9]+' blocked channel_task "channel $(object channel)" \
		'sennit_channel_receive < channel_calls'
	row '0\.[0-9]+' blocked marks_task "event $(object never)" \
		'sennit_event_wait < pinned_calls'
	row '0\.[0-9]+' ready ready_task '' 'sennit_yield < ready_calls'
	row '0\.[0-9]+' runs running_task '' running_calls
	row 'b[0-9]+\.0' blocked 'its own stack' "event $(object never)" \
		'sennit_event_wait < bound_calls'
	row 'b[0-9]+\.1' blocked pinned_task "event $(object never)" \
		'sennit_event_wait < pinned_calls'
	row 'b[0-9]+\.0' runs 'its own stack' '' '.*'
	[ "$(grep -c -E ' (blocked|ready|runs) .*\.[0-9]{3} s ' \
		"$scratch/out")" = 10 ] || fail "$what: not ten fibers"
	for task in mutex event timer channel ready running; do
		frames "$task"_task "${task}_calls ${task}_task"
	done
	frames marks_task 'pinned_calls marks_calls marks_task'
	frames 'fiber 1\): pinned_task' 'pinned_calls pinned_task'
	frames 'own stack: blocked' 'bound_calls bound_thread'
	frames 'own stack: runs' 'settled main'
	[ "$(uname -m)" != x86_64 ] || for register in rbx:b r12:12 r13:13 \
		r14:14 r15:15; do
		value=5e9917$(printf '%02s' "${register#*:}" | tr ' ' 0)
		grep -q "^mark ${register%:*} $value\$" "$scratch/out" ||
			fail "$what: ${register%:*} is wrong"
	done
	echo "$what: ok"
}

# Each wait has lasted for more than a second, and no longer than the program.
check_ages() {
	awk -v what="$what" '/ (blocked) .* s  / {
		sub(/ s  .*$/, "")
		if ($NF < 1 || $NF > 300) {
			print what ": a wait of " $NF " s"
			exit 1
		}
	}' "$scratch/out"
}

live() {
	begin "$1"
	with_$2 "$1" -p "$pid"
	if grep -q -i -e 'ptrace: ' -e 'attach failed' "$scratch/out"; then
		echo "$1, live, $2: not tested, tracing is not permitted"
	else
		check "$1, live, ${3:-$2}"
		check_ages
	fi
	stop KILL
}

core() {
	case $(cat /proc/sys/kernel/core_pattern) in
	[\|/]*)
		echo "$1, core: not tested, the kernel puts cores elsewhere"
		return
		;;
	esac
	begin "$1"
	stop ABRT
	file=$(find "$scratch" -maxdepth 1 -name 'core*' -o \
		-maxdepth 1 -name '*.core')
	if [ -z "$file" ]; then
		echo "$1, core: not tested, the kernel writes none"
		return
	fi
	[ -z "$GDB" ] || { with_gdb "$1" "$file" && check "$1, core, gdb"; }
	for lldb in $lldbs; do
		with_lldb "$1" "$scratch/$1" -c "$file"
		check "$1, core, $lldb"
	done
	rm -f "$file"
}

# named COMMANDS... -- TEXT: `info fibers` in a process that gdb has changed
# prints one line with this text.
named() {
	begin static
	"$GDB" -nx -batch -iex 'set pagination off' -iex 'set width 0' \
		-iex "source $scripts/sennit_gdb.py" -p "$pid" -ex "$1" \
		-ex 'echo ---\n' -ex 'info fibers' >"$scratch/out" 2>&1 || :
	stop KILL
	! grep -q -i -e ptrace: "$scratch/out" || return 0
	sed -n '/^---$/,$p' "$scratch/out" | sed '1d' | grep -v Inferior \
		>"$scratch/lines"
	[ "$(grep -c -e "$2" "$scratch/lines")" = 1 ] &&
		! grep -q -i traceback "$scratch/lines" ||
		fail "not named in one line: $2"
	[ -z "${3:-}" ] || [ "$(wc -l <"$scratch/lines")" = "$3" ] ||
		fail "not $3 lines: $2"
	echo "named: $2"
}

for name in static shared; do
	[ -z "$GDB" ] || live $name gdb
	for lldb in $lldbs; do live $name lldb "$lldb"; done
	core $name
done
[ -n "$GDB" ] || exit 0
at='*(unsigned *)((char *)&sennit_debug_descriptor'
named "set var $at + 8) = 99" 'version 99' 1
named "set var $at + 12) = 4" 'has 4 bytes' 1
named "set var $at) = 0" 'is none' 1
# A fiber whose next one is itself; one whose next one is nowhere.
poke="python p = look(); f = [f for f in p.fibers() if not f.worker.is_bound][1]"
named "$poke; p.target.inferior.write_memory(f.address + p.d.fiber_link_at, \
(f.address + p.d.fiber_link_at).to_bytes(8, 'little'))" 'the list is broken'
named "$poke; p.target.inferior.write_memory(f.address + p.d.fiber_link_at, \
b'\\x10' * 8)" 'cannot read [0-9]* bytes at 0x10101010'
