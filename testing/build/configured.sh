#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# configured.sh - what is built does not depend on where the source comes from:
# a working tree of git and an archive give the same build. Nor does the identity
# of a library (its build id) depend on the folder: what is linked does not name
# it. With BUILD_TESTING=OFF, the option that all projects have, there are no
# tests.
#
# Environment: CC (cc), SOURCE_DIR (.), BUILD_DIR (a build).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
needs git ninja readelf
BUILD_DIR=$(cd "$BUILD_DIR" && pwd -P)
find "$BUILD_DIR" -maxdepth 4 -name '*.so*' -type f ! -path '*/Testing/*' \
	! -path '*/rust/*' >"$scratch/libraries"
[ -s "$scratch/libraries" ] || fail "no library in $BUILD_DIR"
while read -r library; do
	if readelf -d "$library" | grep -F "$BUILD_DIR"; then
		fail "$library names the folder that it was built in"
	fi
done <"$scratch/libraries"
mkdir -p "$scratch/git/tree" "$scratch/archive/tree"
cd "$SOURCE_DIR"
git ls-files -co --exclude-standard >"$scratch/files" 2>/dev/null ||
	sh tools/tracked >"$scratch/files"
for kind in git archive; do
	tar -cf - -T "$scratch/files" | tar -C "$scratch/$kind/tree" -xf -
done
cd "$scratch"
(
	cd git/tree
	git init -q
	git add -A
	git -c user.name=test -c user.email=test@localhost commit -q -m tree
)
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
# configure KIND BUILD [OPTION...]
configure()
{
	kind=$1 build=$2
	shift 2
	quietly cmake -G Ninja -S "$kind/tree" -B "$kind/$build" \
		-DCMAKE_C_COMPILER="$CC" "$@"
}

for kind in git archive; do
	configure $kind build -DSENNIT_BUILD=examples,apps,bench,cpp,manual
	sed "s|$scratch/$kind|/at|g" $kind/build/build.ninja >$kind.ninja
done
diff git.ninja archive.ninja >said || fail "$(head -20 said)"

configure archive build -DBUILD_TESTING=OFF \
	-DSENNIT_BUILD=tests,checks
ctest --test-dir archive/build -N >said 2>&1 || :
if grep 'Test *#' said; then
	fail 'with BUILD_TESTING=OFF there are tests'
fi
if grep '^build test/' archive/build/build.ninja; then
	fail 'with BUILD_TESTING=OFF tests are built'
fi
echo 'the same with git and without; no tests with BUILD_TESTING=OFF'
