#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardening.sh - the claims of SECURITY.md about the built files: every object
# is marked for indirect branch tracking (IBT, BTI) and has the landing pads,
# none claims shadow stacks (SHSTK, GCS) or signed addresses (PAC), the shared
# library is fully relocated before it runs, and every file was compiled with
# probes for large frames.
#
# Environment: LIB_STATIC, LIB_SHARED, LIB_IO, LIB_DIAG; SENNIT_ARCH (x86_64,
# aarch64; others: skipped); BUILD_DIR with compile_commands.json; READELF, OBJDUMP, CC.
set -eu

: "${READELF:=readelf}" "${OBJDUMP:=objdump}" "${CC:=cc}" "${SENNIT_ARCH:=}"

case $SENNIT_ARCH in
x86_64)
	mark=IBT pad=endbr64 branches=-fcf-protection=branch
	;;
aarch64)
	mark=BTI pad='bti|hint' branches=-mbranch-protection=bti
	;;
*)
	echo "skipped: no marks for \"$SENNIT_ARCH\""
	exit 77
	;;
esac
for tool in "$READELF" "$OBJDUMP"; do
	command -v "$tool" >/dev/null || {
		echo "skipped: no $tool"
		exit 77
	}
done

bad=0
fail() {
	echo "hardening: $*"
	bad=1
}

knows() {
	echo 'int x;' | "$CC" -Werror "$1" -xc -c -o /dev/null - 2>/dev/null
}

# The notes of each member follow its name.
if knows "$branches"; then
	"$READELF" -nW "$LIB_STATIC" 2>/dev/null | awk -v mark="$mark" '
	/^File: / {
		if (file && !marked)
			print file
		file = $2
		marked = 0
	}
	$0 ~ mark { marked = 1 }
	END {
		if (file && !marked)
			print file
	}' | grep . && fail "these objects are not marked for $mark"
	"$OBJDUMP" -d --no-show-raw-insn "$LIB_STATIC" | awk -v pad="$pad" '
	/^[0-9a-f]+ <arch_(switch|start)[a-z_]*>:$/ {
		name = $2
		getline
		if ($0 !~ pad)
			print name
	}' | grep . && fail "these functions have no landing pad"
fi
# Each object for itself: the linker clears a mark that one of them lacks.
for library in "$LIB_STATIC" "$LIB_SHARED" ${LIB_IO:-} ${LIB_DIAG:-}; do
	"$READELF" -nW "$library" 2>/dev/null | grep -E 'SHSTK|GCS|PAC' &&
		fail "$library claims shadow stacks or signed addresses"
done
"$READELF" -dW "$LIB_SHARED" | grep -q -E 'BIND_NOW|FLAGS_1.*NOW' ||
	fail "$LIB_SHARED is bound lazily"
"$READELF" -lW "$LIB_SHARED" | grep -q GNU_RELRO ||
	fail "$LIB_SHARED has no GNU_RELRO"

if knows -fstack-clash-protection &&
	[ -e "${BUILD_DIR:-.}/compile_commands.json" ]; then
	grep '"command":.*/src/[a-z_0-9/]*\.c' \
		"$BUILD_DIR/compile_commands.json" |
		grep -v -e -fstack-clash-protection |
		grep . && fail "compiled without -fstack-clash-protection"
fi
exit $bad
