#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# installed.sh - the pages are installed below share/man, each under the name of
# its call, also where several calls share a page. A page shows the prototype,
# the callers and the errors.
#
# Environment: BUILD_DIR (a build).
set -eu
. "$(dirname "$0")/../script.sh"

: "${BUILD_DIR:=build/dev}"

needs mandoc python3

# shows PAGE TEXT: the page, as a terminal gets it without highlights.
shows()
{
	mandoc -Tutf8 "man${1##*.}/$1" 2>"$scratch/said" | col -b |
		tr -s ' \t\n' ' ' >"$scratch/page"
	grep -qF "$2" "$scratch/page" || fail "$1 lacks: $2" \
		"$(cat "$scratch/said" "$scratch/page")"
}

grep -q '^SENNIT_BUILD:.*manual' "$BUILD_DIR/CMakeCache.txt" ||
	skip 'SENNIT_BUILD lacks manual'
installed "$scratch/prefix"
cd "$scratch/prefix/share/man"
shows sennit_mutex_lock_until.3 \
	'sennit_mutex_lock_until(sennit_mutex *m, sennit_time deadline);'
shows sennit_mutex_lock_until.3 'From fiber, thread Blocks yes'
shows sennit_mutex_lock_until.3 'RETURN VALUES Returns 0, -ETIMEDOUT at'
shows sennit_mutex_lock_until.3 'sennit_mutex(7)'
shows sennit_fdatasync.3 'sennit_fsync, sennit_fdatasync –' # by .so
shows sennit_fdatasync.3 '#include <sennit/file.h>'
shows sennit_mutex.7 'typedef struct sennit_mutex {'
shows sennit.7 'sennit_channel(7) a channel: a queue'
shows sennit_read.3 'RETURN VALUES Returns the number of bytes read'
shows sennit_now.3 'RETURN VALUES Returns the current time'
shows sennit-top.1 'show what the tasks and fibers of a running program do'

# man ignores case: a macro is found by its name, and explained on the page of
# the call that has the same one.
for macro in SENNIT_FORK_RUN SENNIT_FORK_SPAWN SENNIT_CONFIG \
	SENNIT_MUTEX_INIT; do
	[ -e man3/$macro.3 ] || fail "no page for $macro"
done
shows sennit_channel_init.3 'The macro SENNIT_CHANNEL_INIT'
shows SENNIT_FORK_SPAWN.3 'SENNIT_FORK_SPAWN(NAME, RECORD, ...);'
if command -v man >/dev/null; then
	found=$(man -M "$PWD" -w SENNIT_FORK_SPAWN 2>/dev/null) || :
	case $found in
	*/sennit_fork_join.7 | */SENNIT_FORK_SPAWN.3) ;;
	*) fail "man SENNIT_FORK_SPAWN opens $found" ;;
	esac
fi
echo "$(find . -type f | wc -l) pages"
