#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clone.sh - the two commands of the README, tools/demo and tools/test-all, do
# not disturb each other in one clone, however often they run. Their files are
# in build: nothing else appears. The checks of the tree read what git tracks,
# and not what a user has left there.
#
# The scripts are the real ones. In place of what they compile and test, cmake
# takes the program from BUILD_DIR, and ctest runs the checks that need no
# build.
#
# Environment: SOURCE_DIR (.), BUILD_DIR (a build).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
needs git
[ -x "$BUILD_DIR/sennit-treesum" ] || skip 'no sennit-treesum'
program=$(cd "$BUILD_DIR" && pwd)/sennit-treesum

mkdir "$scratch/clone" "$scratch/bin" "$scratch/sums"
cd "$SOURCE_DIR"
git ls-files -co --exclude-standard >"$scratch/files" 2>/dev/null ||
	sh tools/tracked >"$scratch/files" # of an archive
tar -cf - -T "$scratch/files" | tar -C "$scratch/clone" -xf -
cd "$scratch/clone"
printf '#!/bin/sh\n' >tools/install-deps
git init -q
git add -A
git -c user.name=test -c user.email=test@localhost commit -q -m clone

cat >"$scratch/bin/cmake" <<END
#!/bin/sh
[ "\$1" != --build ] || cp "$program" "\$2/"
END
cat >"$scratch/bin/ctest" <<'END'
#!/bin/sh
count=0 bad=0
for check in words style refs edges layers; do
	count=$((count + 1))
	sh tools/check-$check || {
		echo "FAILED: check-$check"
		bad=$((bad + 1))
	}
done
echo "50% tests passed, $bad tests failed out of $count"
[ $bad = 0 ]
END
chmod +x "$scratch/bin/cmake" "$scratch/bin/ctest"
PATH=$scratch/bin:$PATH
# A word that check-words refuses, should it read the sums.
retired=$(printf 'cr%s' ew)
echo text >"$scratch/sums/$retired"

# alone WHAT: nothing has appeared beside the clone's own files and build.
alone()
{
	left=$(git status --porcelain --ignored | grep -vxF '!! build/') || :
	[ -z "$left" ] || fail "$1 leaves in the tree: $left"
}

for time in first second; do
	sh tools/demo "$scratch/sums" >"$scratch/said" 2>&1 ||
		fail "the $time demo: $(cat "$scratch/said")"
	for file in sums.sha256 timeline.svg; do
		grep -q "build/demo/$file" "$scratch/said" ||
			fail "the demo does not name build/demo/$file"
		[ -s "build/demo/$file" ] || fail "no build/demo/$file"
	done
	quietly sha256sum -c build/demo/sums.sha256
	alone "the $time demo"
	SENNIT_STRICT=1 sh tools/test-all dev >"$scratch/said" 2>&1 ||
		fail "the $time test-all: $(tail -n 30 "$scratch/said")"
	[ "$(tail -n 1 "$scratch/said")" = '5 passed, 0 failed' ] ||
		fail "the $time test-all: $(cat "$scratch/said")"
	alone "the $time test-all"
done

# A user's own files are not read.
echo "the $retired" >notes.txt
echo 'int a; ' >core/src/kernel/sched/notes.c
quietly sh tools/check-words
quietly sh tools/check-style
# test-all notices what appears while it runs.
sed -i '2i touch stray' "$scratch/bin/ctest"
if sh tools/test-all dev >"$scratch/said" 2>&1; then
	fail 'test-all does not see a file that a test leaves in the tree'
fi
grep -q '^stray$' "$scratch/said" || fail "$(tail -n 20 "$scratch/said")"
[ "$(tail -n 1 "$scratch/said")" = '5 passed, 1 failed' ] ||
	fail "$(tail -n 20 "$scratch/said")"
echo 'demo and test-all, twice in one clone: nothing left outside of build'
