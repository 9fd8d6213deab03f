#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# metrics.sh - Prometheus reads the metrics of diag/test/tracing/observed.c, finds
# nothing to complain about, and stores the numbers that the program must have.
#
# promtool has two readers. `check metrics` reads the format of Prometheus. The
# reader of OpenMetrics imports files with time stamps: they are added.
#
# Environment: CC (cc), CFLAGS, SOURCE_DIR (.), BUILD_DIR, LIB_STATIC, PROMTOOL
# (promtool).
set -eu

: "${CC:=cc}" "${CFLAGS:=}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
: "${LIB_STATIC:=$BUILD_DIR/libsennit.a}" "${PROMTOOL:=promtool}"

command -v "$PROMTOOL" >/dev/null || {
	echo "skipped: no promtool (Debian package prometheus)"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086
"$CC" -std=gnu11 -O2 -Wall -Wextra $CFLAGS $INCLUDES \
	-o "$work/observed" "$SOURCE_DIR/diag/test/tracing/observed.c" \
	"$LIB_STATIC" -pthread -ldl -lm
"$work/observed" metrics >"$work/text" 2>"$work/older"

fail()
{
	echo "$1"
	grep -v _bucket "$work/text"
	exit 1
}

"$PROMTOOL" check metrics <"$work/older" >"$work/said" 2>&1 ||
	fail "promtool check metrics: $(cat "$work/said")"
[ ! -s "$work/said" ] || fail "promtool says: $(cat "$work/said")"
for file in text older; do
	grep -v '^#' "$work/$file" >"$work/$file.numbers"
done
cmp "$work/text.numbers" "$work/older.numbers" ||
	fail "the formats have other numbers"

sed -E '/^#/!s/$/ 1700000000/' "$work/text" >"$work/stamped"
"$PROMTOOL" tsdb create-blocks-from openmetrics "$work/stamped" \
	"$work/store" >"$work/said" 2>&1 ||
	fail "promtool cannot read it: $(cat "$work/said")"
mkdir "$work/store/wal" # dump wants one
"$PROMTOOL" tsdb dump "$work/store" >"$work/stored" 2>"$work/said" ||
	fail "promtool cannot read what it stored: $(cat "$work/said")"

# stored PATTERN VALUE: the store has a line of this pattern with this value.
stored()
{
	grep -E "$1" "$work/stored" >"$work/lines" ||
		fail "not stored: $1"
	awk -v value="$2" '$(NF - 1) != value { exit 1 }' "$work/lines" ||
		fail "$1 should be $2: $(cat "$work/lines")"
}

# 300 tasks, and the one that makes them, which sleeps once, wakes 100 waiters
# and waits for them.
stored '"sennit_tasks_total".*worker="0"' 301
stored '"sennit_waits_total".*worker="0"' 102
stored '"sennit_task_run_seconds_count"' 301
stored '"sennit_scheduling_latency_seconds_count"' 102
stored '"sennit_wait_seconds_count".*kind="event"' 100
stored '"sennit_wait_seconds_bucket".*kind="event".*le="\+Inf"' 100
stored '"sennit_wait_seconds_count".*kind="sleep"' 1
stored '"sennit_wait_seconds_count".*kind="wait_group"' 1
stored '"sennit_workers"' 1
stored '"sennit_tasks_total".*scheduler="a\\"b\\\\\\\\c".*worker="0"' 301
echo "$(grep -c -v '^#' "$work/text") lines, as promtool reads them"
