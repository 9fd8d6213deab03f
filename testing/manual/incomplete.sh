#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# incomplete.sh - the check of the manual names a call that has no comment, whose
# comment does not say what it returns, who may call it or whether it blocks, or
# that no example uses; and an option that its page or --help leaves out.
#
# Environment: SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}"

needs python3
cd "$SOURCE_DIR"
tar -cf - tools/manual */include core/src/base/check.c docs/man \
	docs/cookbook docs/coming-from docs/tutorial */examples programs \
	diag/top diag/trace |
	tar -C "$scratch" -xf -
cd "$scratch"

# says TEXT FILE COMMAND: with FILE edited by sed the check fails and says TEXT.
says()
{
	cp "$2" whole
	sed -i "$3" "$2"
	if python3 tools/manual/pages.py --check >said 2>&1; then
		fail "nothing is said of: $3"
	fi
	grep -qF "$1" said || fail "not said: $1" "$(cat said)"
	cp whole "$2"
}

mutex=core/include/sennit/mutex.h
says 'sennit_mutex_init: its comment lacks the line From' $mutex \
	'0,/From: fiber, thread/s/ \* From: fiber.*no\./ * Anywhere./'
says 'sennit_mutex_init: Blocks: says neither' $mutex \
	'0,/Blocks: no/s/Blocks: no/Blocks: perhaps/'
says 'sennit_mutex_init: From: says neither' $mutex \
	'0,/From: fiber, thread/s/From: fiber, thread/From: anywhere/'
says 'sennit_mutex_other: has no comment' $mutex \
	'$i SENNIT_API void sennit_mutex_other(void);'
says 'sennit_mutex_other: no program in examples uses it' $mutex \
	'$i SENNIT_API void sennit_mutex_other(void);'
says 'sennit_mutex_lock_until: its comment does not say what it Returns' $mutex \
	's/Returns /Gives /'
says 'sennit-grep.1: has no --count' docs/man/sennit-grep.1 '/-count/d'
says 'sennit-grep.1: there is no --size' docs/man/sennit-grep.1 \
	's/Fl -count/Fl -size/'
says 'sennit-grep --help: has no --count' programs/grep/options.c \
	's/--count //'
says 'sennit-proxy.1: has no --least' programs/proxy/main.c 's/--least //'
says 'sennit-proxy.1: has no --more' programs/proxy/main.c \
	's/{ "tcp"/{ "more"/'
python3 tools/manual/pages.py --check
