#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ignored.sh - the compiler warns if a program ignores that a task was not
# accepted or a lock is not held, and not where nothing is lost.
#
# Environment: CC (cc), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

# compiles STATEMENT
compiles()
{
	# shellcheck disable=SC2086 # flags are words
	printf '#include <sennit.h>\n%s\n{\n\t%s;\n}\n' \
		'void f(sennit_group *g, sennit_mutex *m, sennit_task_fn *t)' \
		"$1" |
		"${CC:-cc}" -std=c11 -Wall -Wextra -Werror \
		-Wno-unused-parameter -c -o /dev/null \
		$INCLUDES -xc - 2>&1
}

for lost in 'sennit_schedule(t, 0)' 'sennit_group_spawn(g, 0, 0)' \
	'sennit_mutex_lock_until(m, 0)'; do
	said=$(compiles "$lost") && echo "no warning: $lost" && exit 1
	echo "$said" | grep -q unused || {
		echo "$said"
		exit 1
	}
done
for nothing in 'sennit_group_wait(g)' 'sennit_sleep_until(0)'; do
	compiles "$nothing"
done
