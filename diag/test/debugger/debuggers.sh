# SPDX-License-Identifier: Apache-2.0
# debuggers.sh - what the scripts share that run debuggers. They set CC, CFLAGS,
# SOURCE_DIR, BUILD_DIR and LIB_STATIC, and may set GDB and LLDB. They have
# $scratch and fail() of script.sh.
# shellcheck shell=sh

: "${CC:=cc}" "${CFLAGS:=}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
: "${LIB_STATIC:=$BUILD_DIR/libsennit.a}"
: "${GDB:=$(command -v gdb || :)}"
: "${LLDB:=lldb-14 lldb-16 lldb}"
DEBUGINFOD_URLS=
export DEBUGINFOD_URLS

case $("$CC" -dumpmachine) in
"$(uname -m)"-*) ;;
*)
	echo "skipped: a debugger cannot run programs for another processor"
	exit 77
	;;
esac

# The Python modules of Debian's lldb are not where it looks for them
# (diag/docs/debugging.md).
lldb_modules() {
	lldb_home=$(dirname "$(dirname "$(readlink -f "$(command -v "$1")")")")
	find "$lldb_home/lib" -path '*/lldb/embedded_interpreter.py' \
		-exec dirname {} \; 2>/dev/null | head -n 1 | xargs -r dirname
}

# run_lldb ARGUMENT...: as $lldb says.
run_lldb() {
	PYTHONPATH=$(lldb_modules "$lldb"):${PYTHONPATH:-} \
		"$lldb" --no-lldbinit --batch "$@"
}

[ -z "$GDB" ] || "$GDB" -nx -batch -ex 'python print("works")' 2>&1 |
	grep -q works || GDB=
lldbs=
for lldb in $LLDB; do
	command -v "$lldb" >/dev/null || continue
	run_lldb -o 'script print("works")' 2>&1 | grep -q '^works' || {
		echo "$lldb is installed, but its Python does not work"
		exit 1
	}
	lldbs="$lldbs $lldb"
done

# start PROGRAM ARGUMENT...: $pid is the program, in which nothing changes any
# more.
start() {
	: >"$scratch/said" # what the one before said is not about this one
	"$@" >"$scratch/said" 2>"$scratch/errors" &
	pid=$!
	while ! grep -q settled "$scratch/said"; do
		kill -0 "$pid" || {
			cat "$scratch/errors"
			fail "$* ended"
		}
		sleep 0.1
	done
}

# stop [SIGNAL]
stop() {
	{ kill -"${1:-KILL}" "$pid" && wait "$pid"; } 2>/dev/null || :
	pid=
}

pid=
clean_up() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :
	rm -rf "$scratch"
}

# compile_for_debuggers NAME SOURCE FLAGS...: $scratch/NAME, with the archive.
compile_for_debuggers() {
	compiled=$1
	source=$2
	shift 2
	# shellcheck disable=SC2086
	"$CC" -std=gnu11 -Wall -Wextra $CFLAGS $INCLUDES \
		-o "$scratch/$compiled" "$@" "$source" -Wl,--gc-sections \
		"$LIB_STATIC" -pthread -ldl -lm
}
