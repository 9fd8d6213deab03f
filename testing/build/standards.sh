#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# standards.sh - a header that needs a newer C++ standard than the compiler's
# reports that in one error, and reports nothing else.
#
# Environment: CXX (empty: skipped), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CXX:=}" "${SOURCE_DIR:=.}"

[ -n "$CXX" ] || skip "no C++ compiler"

# refuses STANDARD HEADER: the error names the missing standard, once.
refuses() {
	echo "#include <$2>" >"$scratch/program.cpp"
	if "$CXX" -std="$1" -fsyntax-only -Wall -Wextra \
		$INCLUDES -I"$SOURCE_DIR/marl/include" \
		"$scratch/program.cpp" 2>"$scratch/said"; then
		echo "$2 compiles with -std=$1"
		exit 1
	fi
	if [ "$(grep -c 'error:' "$scratch/said")" != 1 ] ||
		! grep -q "error: .*needs* C++$3: compile with" "$scratch/said" ||
		grep -q 'warning:' "$scratch/said"; then
		echo "$2 with -std=$1 does not say one thing:"
		cat "$scratch/said"
		exit 1
	fi
}

for standard in c++98 c++11 c++14; do
	refuses $standard sennit.hpp 17
done
for header in "$SOURCE_DIR"/marl/include/marl/*.h; do
	case ${header##*/} in export.h | sanitizers.h) continue ;; esac # for C
	refuses c++98 "marl/${header##*/}" 11
done
echo "each says what it needs"
