#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# collisions.sh - a program may define functions and variables with the names
# that the library uses internally, and can still be linked to the archive. Each
# uses its own.
#
# Environment: LIB_INTERNAL (the archive with those names), LIB_STATIC, CC (cc),
# CFLAGS, SOURCE_DIR (.), LOCALISED (OFF: skipped), NM (nm).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CFLAGS:=}" "${SOURCE_DIR:=.}" "${NM:=nm}"

[ "${LOCALISED:-ON}" = ON ] || skip "this build leaves names visible"

# Each is a function that ends the program if the library calls it.
"$NM" -g --defined-only "$LIB_INTERNAL" | awk 'NF == 3 { print $3 }' |
	grep -v -e '^sennit_' -e '\.' | sort -u >"$scratch/names"
count=$(wc -l <"$scratch/names")
[ "$count" -gt 100 ] || { echo "only $count internal names"; exit 1; }
{
	echo '#include <stdlib.h>'
	sed 's/.*/void &(void);\nvoid &(void)\n{\n\tabort();\n}/' \
		"$scratch/names"
} >"$scratch/own.c"

cat >"$scratch/main.c" <<'END'
#include <sennit.h>

static void task(void *done)
{
	sennit_sleep(SENNIT_MILLISECOND);
	(void)sennit_wait_group_done(done);
}

int main(void)
{
	static sennit_wait_group done;
	sennit_scheduler        *s;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) ||
	    sennit_thread_bind(s))
		return 1;
	sennit_wait_group_add(&done, 100);
	for (int i = 0; i < 100; i++)
		if (sennit_schedule(task, &done))
			return 1;
	sennit_wait_group_wait(&done);
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
END

# shellcheck disable=SC2086 # flags are words
"$CC" -std=gnu11 $CFLAGS $INCLUDES -o "$scratch/program" \
	"$scratch/main.c" "$scratch/own.c" "$LIB_STATIC" -pthread -ldl -lm
"$scratch/program"
echo "$count names of its own"
