#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# readme.sh - the program in README.md is core/examples/hello.c, compiles as printed
# with all warnings against both libraries, and runs.
#
# Environment: CC (cc), SOURCE_DIR (.), LIB_STATIC and LIB_SHARED, each skipped
# when empty.
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}" "${LIB_STATIC:=}" "${LIB_SHARED:=}"

[ -n "$LIB_STATIC$LIB_SHARED" ] ||
	skip "neither LIB_STATIC nor LIB_SHARED is set"

# The first code block marked as C, without its fences.
awk '
/^```/ && inside { exit }
inside { print }
/^```c$/ { inside = 1 }
' "$SOURCE_DIR/README.md" >"$scratch/readme.c"

if [ ! -s "$scratch/readme.c" ]; then
	echo "README.md has no program"
	exit 1
fi
if ! diff -u "$SOURCE_DIR/core/examples/hello.c" "$scratch/readme.c"; then
	echo "the program in README.md is not core/examples/hello.c"
	exit 1
fi
printf 'hello, warp\nhello, weft\n' >"$scratch/expected"

for library in $LIB_STATIC $LIB_SHARED; do
	"$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror \
		$INCLUDES -o "$scratch/readme" \
		"$scratch/readme.c" "$library" -pthread -lm \
		-Wl,-rpath,"$(dirname "$library")"
	status=0
	"$scratch/readme" >"$scratch/said" || status=$?
	# The two greetings come in either order.
	if [ "$status" != 0 ] ||
		! sort "$scratch/said" | cmp -s - "$scratch/expected"; then
		echo "with $library it ends with $status, having said:"
		cat "$scratch/said"
		exit 1
	fi
	echo "$library: ok"
done
