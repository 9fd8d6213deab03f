#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh - no operation takes more instructions than bench/budget.tsv grants it.
#
# Counts by callgrind and fails where a count exceeds its budget by more than
# three per cent. Prints "operation count budget ok|FAIL" per line; a count that
# is three per cent below its budget is worth a new one. Exit status: 0, 1 when
# a budget is exceeded, 77 where counts of this build cannot be compared.
#
# Wants OPERATIONS, the program; BUILD, what it was built with, in the words of
# the line "# build" of the file of budgets.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
budgets=${BUDGETS:-$here/../../bench/budget.tsv}

skip()
{
	echo "budget: skipped, $1"
	exit 77
}

wanted=$(sed -n 's/^# build: //p' "$budgets")
[ "${BUILD:-unknown}" = "$wanted" ] ||
	skip "this build is '${BUILD:-unknown}', the budgets are for '$wanted'"
[ -x "${OPERATIONS:?}" ] || skip "$OPERATIONS is not built"
command -v valgrind >/dev/null || skip 'there is no valgrind'

# count OPERATION TIMES: all the instructions of the program.
count()
{
	valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		"$OPERATIONS" "$1" "$2" 2>&1 |
		sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

less=9860
more=108460
failures=0
tab=$(printf '\t')
while IFS=$tab read -r operation budget rest; do
	case $operation in
	'#'* | '') continue ;;
	esac
	few=$(count "$operation" $less)
	many=$(count "$operation" $more)
	if [ -z "$few" ] || [ -z "$many" ]; then
		echo "$operation: no count"
		failures=$((failures + 1))
		continue
	fi
	awk -v name="$operation" -v budget="$budget" \
		-v count=$(((many - few) * 10 / (more - less))) '
	BEGIN {
		count /= 10
		ok = count <= budget * 1.03
		printf "%-20s %7.1f %7.1f %s%s\n", name, count, budget,
			ok ? "ok" : "FAIL",
			count < budget * 0.97 ? ", the budget can fall" : ""
		exit !ok
	}' || failures=$((failures + 1))
done <"$budgets"
[ "$failures" = 0 ] || {
	echo "budget: $failures exceeded: make it cheaper, or write the new" \
		"count and its reason into bench/budget.tsv"
	exit 1
}
