#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# flat_header.sh - the header for generators of bindings (tools/flat-header) is
# plain, is the same by gcc and clang, and declares structs, constants and
# functions as the headers do. cffi and bindgen read it, and what cffi makes of
# it works.
#
# Environment: CC (cc), SOURCE_DIR (.), LIB_SHARED, LIB_IO.
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}"
needs python3
flat=$scratch/sennit_flat.h
folders=$(printf %s "$INCLUDES" | sed 's/^ *-I//; s/ *-I/:/g')
python3 "$SOURCE_DIR/tools/flat-header" "$folders" "$CC" >"$flat"
for other in gcc clang; do
	command -v $other >/dev/null || continue
	python3 "$SOURCE_DIR/tools/flat-header" "$folders" $other |
		diff "$flat" - || fail "by $other it differs"
done
quietly "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -xc "$flat"
grep -nE '^#define [A-Z0-9_]+\(|^#(if|pragma)|__|\\$' "$flat" &&
	fail "it is not plain"

# The layout of each struct, and the value of each constant, in both.
sed -n 's/^typedef struct \([a-z_]*\) {$/\1/p' "$flat" >"$scratch/structs"
[ "$(wc -l <"$scratch/structs")" -gt 30 ] || fail "there are few structs"
{
	cat <<-'END'
	#include <stdio.h>
	#define TYPE(x) printf(#x " %zu %zu\n", sizeof(struct x), _Alignof(struct x))
	#define VALUE(x) printf(#x " %lld\n", (long long)(x))
	int main(void)
	{
	END
	sed 's/.*/TYPE(&);/' "$scratch/structs"
	sed -n 's/^#define \([A-Z0-9_]*\) .*/VALUE(\1);/p' "$flat"
	echo 'return 0; }'
} >"$scratch/main.c"
ls "$SOURCE_DIR"/*/include/sennit/*.h |
	grep -vE '/(http|mpi|tls|tls_openssl|fork_join_inside)\.h$' |
	sed 's|.*/\(.*\)|#include <sennit/\1>|' >"$scratch/all.h"
quietly "$CC" -D_GNU_SOURCE $INCLUDES -include sennit.h \
	-include "$scratch/all.h" "$scratch/main.c" -o "$scratch/real"
quietly "$CC" -include "$flat" "$scratch/main.c" -o "$scratch/plain"
"$scratch/real" >"$scratch/real.txt"
"$scratch/plain" >"$scratch/plain.txt"
diff "$scratch/real.txt" "$scratch/plain.txt" || fail "a layout or value differs"

# Every function is there, and is exported.
if [ -e "${LIB_SHARED:-}" ] && [ -e "${LIB_IO:-}" ]; then
	nm -D --defined-only "$LIB_SHARED" "$LIB_IO" |
		sed -n 's/.* T \(sennit_[a-z0-9_]*\)@.*/\1/p' | sort -u \
		>"$scratch/exported"
	grep -v '^typedef' "$flat" | grep -oE '\bsennit_[a-z0-9_]+\(' |
		tr -d '(' | sort -u >"$scratch/declared"
	comm -13 "$scratch/exported" "$scratch/declared" >"$scratch/wrong"
	[ ! -s "$scratch/wrong" ] || fail "not exported: $(cat "$scratch/wrong")"
	count=$(wc -l <"$scratch/declared")
	[ "$count" -gt 300 ] || fail "$count functions are few"
fi

if python3 -c 'import cffi' 2>/dev/null && [ -e "${LIB_SHARED:-}" ]; then
	cat >"$scratch/use.py" <<-'END'
	import sys

	import cffi

	ffi = cffi.FFI()
	with open(sys.argv[1], encoding="utf-8") as header:
	    ffi.cdef("".join(line for line in header if "#include" not in line))
	lib = ffi.dlopen(sys.argv[2])
	config = ffi.new("sennit_config *", {
	    "size": ffi.sizeof("sennit_config"), "workers": 1})
	out = ffi.new("sennit_scheduler **")
	assert lib.sennit_scheduler_create(out, config) == 0
	assert lib.sennit_scheduler_workers(out[0]) == 1
	channel = ffi.new("sennit_channel *")
	assert lib.sennit_channel_init(channel, 1, 4, ffi.NULL) == 0
	sent, got = ffi.new("int *", 7), ffi.new("int *")
	assert lib.sennit_channel_send(channel, sent) == 0
	case = ffi.new("sennit_case[1]")
	case[0].object_ = channel
	case[0].value_ = got
	case[0].kind_ = lib.SENNIT_CASE_RECEIVE
	assert lib.sennit_select(case, 1, ffi.NULL) == 0
	assert (case[0].result, got[0]) == (0, 7)
	lib.sennit_channel_destroy(channel)
	assert lib.sennit_scheduler_shutdown(out[0], lib.SENNIT_NEVER) == 0
	END
	quietly python3 "$scratch/use.py" "$flat" "$LIB_SHARED"
else
	echo "without cffi, or without a shared library"
fi
if command -v bindgen >/dev/null && command -v rustc >/dev/null; then
	quietly bindgen "$flat" -o "$scratch/sennit_flat.rs"
	quietly rustc --crate-type lib -A warnings --emit metadata \
		-o "$scratch/flat.rmeta" "$scratch/sennit_flat.rs"
	grep -q 'pub fn sennit_select_until' "$scratch/sennit_flat.rs" ||
		fail "bindgen left something out"
else
	echo "without bindgen or rustc"
fi
