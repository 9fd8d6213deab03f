# SPDX-License-Identifier: Apache-2.0
# room.sh - what the scripts here share: testing/script.sh, whose folder they call
# $room, and servers that end with the script.
#
# A script that is killed takes its servers along, by setpriv's --pdeathsig.
#
# TOOL: the words of a wrapper (valgrind) that each program is run by; or empty.

. "$(dirname "$0")/../../../testing/script.sh"
room=$scratch

fail() {
	echo "FAILED: $1"
	shift
	for file; do
		echo "--- $file"
		tail -n 30 "$file"
	done
	exit 1
}

: "${TOOL:=}"
servers=
stop_by=TERM # the signal that ends servers
# ours PID: a script may have waited for a server. Then its number may be another
# process's by now.
ours() {
	grep -qE "^PPid:[[:space:]]*$$\$" "/proc/$1/status" 2>/dev/null
}
clean_up() {
	for pid in $servers; do
		! ours "$pid" || kill "-$stop_by" "$pid" 2>/dev/null || :
	done
	for pid in $servers; do
		wait "$pid" 2>/dev/null || :
	done
	rm -rf "$room"
}

# serve LOG COMMAND...: starts a server, which must stay in the foreground and
# reads from $input.
input=/dev/null
serve() {
	log=$1
	shift
	if setpriv --pdeathsig KILL true 2>/dev/null; then
		set -- setpriv --pdeathsig KILL "$@"
	fi
	"$@" >"$log" 2>&1 <"$input" &
	server=$!
	servers="$servers $server"
}

# await WHAT COMMAND...: until it succeeds, for half a minute, while the server
# that was started last lives.
await() {
	what=$1
	shift
	limit=$(($(date +%s) + 30))
	until "$@" >/dev/null 2>&1; do
		kill -0 "$server" 2>/dev/null || fail "$what has ended" "$log"
		[ "$(date +%s)" -le $limit ] || fail "$what is not there" "$log"
		sleep 0.05
	done
}
