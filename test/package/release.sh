#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# release.sh - tools/release gives a copy of the tree another version:
# check-versions and every recipe then have it, the record of the interface is
# of the new SONAME, and tools/release-notes prints what was under "Unreleased".
# A version that is there already is refused. check-versions notices each file
# that names the version, if it alone is left as it was.
#
# Environment: SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"
cd "${SOURCE_DIR:-.}"

needs git python3
before=$scratch/before
mkdir "$before" "$scratch/tree"
git ls-files -co --exclude-standard ':!bench' ':!apps' ':!programs' ':!src/io' \
	':!examples' ':!test/[!p]*/*' |
	tar -cf - -T - | tar -C "$scratch/tree" -xf -
cd "$scratch/tree"
# Something to release, whatever the last release was.
grep -q '^## Unreleased$' CHANGELOG.md ||
	sed -i '0,/^## /s//## Unreleased\n\n- News.\n\n&/' CHANGELOG.md
cp -R . "$before"
sh tools/check-versions || fail "the tree names several versions"
sh tools/release-notes Unreleased >notes

for wrong in 7 7.7 7.7.7.7 seven ''; do
	if sh tools/release "$wrong" 2>said; then
		fail "\"$wrong\" is a version"
	fi
done
sh tools/release 7.7.7 >said 2>&1 || fail "$(cat said)"
sh tools/release-notes 7.7.7 | cmp - notes ||
	fail "the notes of 7.7.7 are not those that were unreleased"
if sh tools/release-notes Unreleased 2>said; then
	fail "something is still unreleased"
fi
SOURCE_DIR=. sh test/package/recipes.sh || fail "a recipe is not of 7.7.7"
sh tools/check-versions || fail "it is not 7.7.7 everywhere"
sh tools/abi check >said 2>&1 || [ $? = 77 ] || fail "$(cat said)"
grep -q '^soname libsennit.so.7$' abi/x86_64/libsennit.txt ||
	[ "$(uname -m)" != x86_64 ] ||
	fail "the record is not of the new SONAME"
if sh tools/release 7.7.7 >said 2>&1; then
	fail "7.7.7 was released twice"
fi

names=0
for file in $(diff -rq "$before" . |
	sed -n 's/^Files .* and \(.*\) differ$/\1/p'); do
	cp "$file" kept
	cp "$before/$file" "$file"
	if sh tools/check-versions >said 2>&1; then
		fail "check-versions does not see that $file is not of 7.7.7"
	fi
	cp kept "$file"
	names=$((names + 1))
done
echo "7.7.7 named everywhere, in $names files"
