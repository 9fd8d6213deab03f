#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# release.sh - tools/release gives a copy of the tree another version:
# check-versions and every recipe then have it, the interface is recorded, and
# tools/release-notes prints what was under "Unreleased". A version that is there
# already is refused. check-versions notices each file that names the version, if
# it alone is left as it was. tools/release-files makes the same files of a
# tagged commit twice, and refuses a tree with changes and one without a tag.
#
# Environment: SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"
cd "${SOURCE_DIR:-.}"

needs git python3
source=$PWD
before=$scratch/before
mkdir "$before" "$scratch/tree"
git ls-files -co --exclude-standard ':!bench' ':!programs' ':!*/bench' \
	':!*/examples' ':!*/src' ':!*/test' ':!testing/[!p]*/*' |
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
SOURCE_DIR=. sh testing/package/recipes.sh || fail "a recipe is not of 7.7.7"
sh tools/check-versions || fail "it is not 7.7.7 everywhere"
sh tools/abi check >said 2>&1 || [ $? = 77 ] || fail "$(cat said)"
grep -q '^soname libsennit.so.7$' "abi/7.7.7/$(uname -m)/libsennit.txt" ||
	fail "the record is not of the new SONAME"
if sh tools/release 7.7.7 >said 2>&1; then
	fail "7.7.7 was released twice"
fi

names=0
for file in $(diff -rq "$before" . |
	sed -n 's/^Files .* and \(.*\) differ$/\1/p'); do
	# Before the first release CHANGELOG.md names no version.
	if [ "$file" = ./CHANGELOG.md ] &&
		! grep -q '^## [0-9]' "$before/CHANGELOG.md"; then
		continue
	fi
	cp "$file" kept
	cp "$before/$file" "$file"
	if sh tools/check-versions >said 2>&1; then
		fail "check-versions does not see that $file is not of 7.7.7"
	fi
	cp kept "$file"
	names=$((names + 1))
done
# The next version: nothing is released yet.
sh tools/release --prepare 7.8.0 >said 2>&1 || fail "$(cat said)"
sh tools/check-versions || fail "it is not 7.8.0 everywhere"
sh tools/release-notes 7.7.7 | cmp - notes || fail "the notes of 7.7.7 changed"
[ ! -e abi/7.8.0 ] || fail "7.8.0 is recorded before it is released"
[ "$(grep -c '^sennit (7' debian/changelog)" = 2 ] ||
	fail "debian/changelog: $(cat debian/changelog)"

# --- the files ---------------------------------------------------------------

cd "$source"
mkdir "$scratch/whole"
git ls-files -co --exclude-standard | tar -cf - -T - |
	tar -C "$scratch/whole" -xf -
cd "$scratch/whole"
git init -q
git add -A
git -c user.name=a -c user.email=a@b commit -qm release
version=$(sed -n 's/^#define SENNIT_VERSION_[A-Z]* //p' \
	core/include/sennit/base.h | paste -s -d .)
name=sennit-$version
if python3 tools/release-files "$scratch/none" 2>"$scratch/said"; then
	fail "a commit without a tag was released"
fi
git tag "v$version"
echo >>README.md
if python3 tools/release-files "$scratch/none" 2>"$scratch/said"; then
	fail "a tree with changes was released"
fi
git checkout -q README.md
for folder in one two; do
	python3 tools/release-files "$scratch/$folder" >"$scratch/said"
done
diff -r "$scratch/one" "$scratch/two" || fail "the files differ"
cd "$scratch/one"
sha256sum -c SHA256SUMS >"$scratch/said" || fail "$(cat "$scratch/said")"
tar -tf "$name.tar.gz" | sed "s,^$name/,," | sort >"$scratch/packed"
git -C "$scratch/whole" ls-files | sort | cmp - "$scratch/packed" ||
	fail "the tarball is not the commit"
for file in LICENSE sennit.c sennit.h sennit_io.c sennit_tls.h sennit.hpp \
	sennit_io.hpp sennit_tls.hpp marl/scheduler.h; do
	tar -tf "$name-single-file.tar.gz" "$name/$file" >"$scratch/said" ||
		fail "the single-file form lacks $file"
done
python3 - "$name" "$scratch/packed" <<'END'
import hashlib
import json
import sys
import tarfile

name, packed = sys.argv[1:]
listed = json.load(open(name + ".spdx.json"))
files = {f["fileName"][2:]: f for f in listed["files"]}
assert sorted(files) == sorted(open(packed).read().split("\n")[:-1])
with tarfile.open(name + ".tar.gz") as tar:
    for member in tar:
        sums = {c["algorithm"]: c["checksumValue"]
                for c in files[member.name[len(name) + 1:]]["checksums"]}
        content = tar.extractfile(member).read()
        assert sums["SHA256"] == hashlib.sha256(content).hexdigest()
ids = [e["SPDXID"] for e in listed["files"] + listed["packages"]]
assert len(set(ids)) == len(ids)
for link in listed["relationships"]:
    assert {link["spdxElementId"], link["relatedSpdxElement"]} <= {
        *ids, "SPDXRef-DOCUMENT"}, link
END
echo "7.7.7 named everywhere, in $names files; files of $version made twice"
