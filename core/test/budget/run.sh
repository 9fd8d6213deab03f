#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh - checks that no operation needs more instructions than its budget in
# core/bench/budget.tsv.
#
# Counts with callgrind, and fails if a count exceeds its budget by more than 3
# %. Prints "operation count budget ok|FAIL" per line. A count that is 3 % below
# its budget suggests a new budget. Exit status: 0; 1 if a budget is exceeded;
# 77 if the counts of this build cannot be compared.
#
# Needs OPERATIONS, the program, and BUILD, the description of the build as in
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

# count OPERATION TIMES: the instruction count of the whole program.
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
		"count and its reason into core/bench/budget.tsv"
	exit 1
}
