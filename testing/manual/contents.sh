#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# contents.sh - pages list errors, each with its words: those of the comment, of
# the call that it names, or of sennit_strerror(). They show code: all of a short
# function, a part of a long one, and each line stands in the program that is
# named. `man -k` finds calls by name and by what they do.
#
# Environment: SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}"

needs python3 mandoc
quietly python3 "$SOURCE_DIR/tools/manual/pages.py" "$scratch/man"

# shows PAGE TEXT: as a terminal gets it, without highlights and line breaks.
shows()
{
	mandoc -Tutf8 "$scratch/man/man${1##*.}/$1" | col -b |
		tr -s ' \t\n' ' ' >"$scratch/page"
	grep -qF -e "$2" "$scratch/page" || fail "$1 lacks: $2" \
		"$(cat "$scratch/page")"
}

# From the comment, with and without the words of another call.
shows sennit_future_try_set.3 '[-EALREADY] If *f is set already'
shows sennit_event_wait.3 \
	"[-ETIMEDOUT] At the deadline of the caller's group."
shows sennit_channel_send.3 '[-EPIPE] If *c is closed before or during'
shows sennit_send_all.3 '[-EPIPE] If the peer has closed.'
shows sennit_tls_accept.3 "[-EKEYREJECTED] The peer's certificate is not"
shows sennit_resolve.3 '[-EREMOTEIO] A server refused.'
# From sennit_strerror(): base.h promises both of every wait.
shows sennit_recv.3 "[-ECANCELED] The caller's group was cancelled."
shows sennit_recv.3 'Other errors of the system come through'
shows sennit_process_spawn.3 "Those of the system's posix_spawn"
if grep -q '^\.Sh ERRORS' "$scratch/man/man3/sennit_now.3"; then
	fail 'sennit_now has no errors, and its page lists some'
fi

shows sennit_fiber.7 'EXAMPLES From examples/'
for macro in SYNC CALL RUN; do
	shows SENNIT_FORK_$macro.3 'RETURN VALUES Returns what'
done
shows SENNIT_FORK_DECLARE.3 'SENNIT_FORK_DECLARE(static, int, theirs'
shows sennit-grep.1 'EXAMPLES'

# Of the classes for C++ the public part, without bodies of functions.
shows sennit_cpp_mutex.7 '[[nodiscard]] bool try_lock() noexcept;'
shows sennit_cpp_channel.7 'explicit received(channel_status why) noexcept;'
shows sennit_cpp_socket.7 'int native_handle() const noexcept;'
shows sennit_cpp_scheduler.7 'config &with_workers(std::uint32_t n) noexcept;'
for page in "$scratch"/man/man7/sennit_cpp_*.7; do
	if sed -n '/^.Sh DECL/,/^.Ed/p' "$page" |
		grep -nE '^	+(return|if|private:)\b|^	+[a-z]+_ = ' >"$scratch/said"; then
		fail "$page has a body: $(cat "$scratch/said")"
	fi
done

cd "$SOURCE_DIR"
python3 - <<'EOP'
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "tools/manual")
import pages

manual = pages.Manual()
shown = 0
for name in manual.calls:
    for path, lines in manual.examples.shown([name]):
        shown += 1
        text = set(manual.examples.sources[path].read_text().split("\n"))
        strange = set(lines) - text - {"\t..."}
        if strange:
            sys.exit("%s: not in %s: %s" % (name, path, strange))
        if not any(name in line for line in lines):
            sys.exit("%s: is not in the part of %s" % (name, path))
        if len(lines) > 30:
            sys.exit("%s: %d lines of %s" % (name, len(lines), path))
        if not lines[-1] == "}":
            sys.exit("%s: no end of a function of %s" % (name, path))
print(shown, "excerpts")
EOP

needs mandb man
quietly mandb -c -u -q "$scratch/man"
found=$(man -M "$scratch/man" -k sennit | wc -l)
pages=$(find "$scratch/man/man3" -type f | wc -l)
[ "$found" -ge "$pages" ] || fail "man -k finds $found of $pages pages"

# finds WORDS NAME: `man -k WORDS` lists NAME.
finds()
{
	man -M "$scratch/man" -k "$1" >"$scratch/found" || :
	grep -q "^$2 " "$scratch/found" || fail "man -k '$1' lacks $2" \
		"$(cat "$scratch/found")"
}
finds 'condition variable' sennit_cond_destroy
finds 'wait until the future' sennit_future_wait
finds 'task graph' sennit_dag_destroy
finds 'steal' SENNIT_FORK_SPAWN
finds 'sennit program' sennit-trace
