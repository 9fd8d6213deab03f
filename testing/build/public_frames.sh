#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# public_frames.sh - whatever a fiber or thread waits for, its stack names the
# public call, in each build: no call of core/docs/waits.md ends with a jump to
# another function, which would leave no frame of its own. It may jump to parts
# of itself, as sennit_x.part.0.
#
# Environment: SOURCE_DIR (.), BUILD_DIR (a build with shared libraries).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"

needs objdump
case $(uname -m) in
x86_64) jump='^(jmp|bnd jmp|notrack jmp)$' ;;
aarch64) jump='^(b|br)$' ;;
*) skip 'the jumps of this processor are not known' ;;
esac
[ -e "$BUILD_DIR/libsennit.so" ] || skip 'no shared library'

sed -n 's/^| `\(sennit_[a-z_]*\)` .*/\1/p' "$SOURCE_DIR/core/docs/waits.md" \
	>"$scratch/calls"
for library in "$BUILD_DIR"/libsennit*.so; do
	objdump -d --no-show-raw-insn "$library" >"$scratch/code" ||
		fail "objdump does not read $library"
	awk -v jump="$jump" -v file="${library##*/}" '
		FNR == NR { public[$1]; next }
		/^[0-9a-f]+ <.*>:$/ {
			name = $2
			gsub(/[<>:]|@.*/, "", name)
			if (name in public)
				print "found", name
			next
		}
		# "address: instruction operand <target+offset>"
		name in public && / <[^>]*>$/ {
			line = $0
			sub(/^[^:]*:[ \t]*/, "", line)
			split(line, word, /[ \t]+/)
			if (word[1] !~ jump && (word[1] " " word[2]) !~ jump)
				next
			target = $NF
			gsub(/[<>]|[+@].*/, "", target)
			if (target != name && index(target, name ".") != 1)
				print "jumps", name, "to", target, "in", file
		}' "$scratch/calls" "$scratch/code" >>"$scratch/found"
done
# Most calls are there: the names are read as they should be.
[ "$(grep -c '^found' "$scratch/found")" -ge 60 ] ||
	fail "found few calls: $(grep -c '^found' "$scratch/found")"
! grep '^jumps' "$scratch/found" ||
	fail 'public calls leave their frames before they wait'
