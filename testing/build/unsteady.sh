#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# unsteady.sh - tools/test-all runs tests that failed once more, counts those
# that pass then and names them. It does not if one crashed, waited in vain or
# had a report of a sanitizer, nor with SENNIT_STRICT. What scripts of their own
# count, it adds. All builds compile while the first is tested, and one that
# fails counts. The builds are made up.
#
# Environment: SOURCE_DIR (.).
set -eu

: "${SOURCE_DIR:=.}"

command -v ctest >/dev/null || {
	echo "skipped: no ctest"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tools"
cp "$SOURCE_DIR/tools/test-all" "$SOURCE_DIR/tools/compile-ahead" \
	"$SOURCE_DIR/tools/help.sh" \
	"$scratch/tools"
cd "$scratch"
unset SENNIT_STRICT
echo 'exit 0' >tools/install-deps
echo 'kill -SEGV $$' >crash
cat >await <<'END'
for i in $(seq 60); do
	[ ! -e "$1" ] || exit 0
	sleep 1
done
exit 1
END

# Each build has a test that passes, and some that pass the second time. One
# that release leaves out comes first.
cat >tools/build <<'END'
folder=build/$1
mkdir -p "$folder"
once()
{
	printf 'add_test(%s sh -c "test -e %s || { touch %s; %s; }")\n' \
		"$1" "$1" "$1" "$2"
}
case $1 in
dev) once shaky 'exit 1' ;;
release) once shaky 'exit 1' ;;
clang) once shaky 'exit 1' && once crash "exec sh $PWD/crash" ;;
tsan) once race 'echo WARNING: ThreadSanitizer; exit 66' ;;
count) once vain 'echo ERROR: not soon: x; exit 1' ;;
portable) once shaky 'exit 1' && echo 'add_test(bad false)' ;;
asan) echo "add_test(late sh $PWD/await $PWD/build/last)" ;;
clang-lto) exit 1 ;;
gcc-lto) touch build/last ;;
esac >"$folder/CTestTestfile.cmake"
echo 'add_test(good true)' >>"$folder/CTestTestfile.cmake"
names=$(sed 's/add_test(\([a-z]*\) .*/\1/' "$folder/CTestTestfile.cmake" |
	tr '\n' ' ')
echo "set_tests_properties($names PROPERTIES LABELS unit)" \
	>>"$folder/CTestTestfile.cmake"
[ "$1" != release ] ||
	sed -i '1i add_test(build/tools false)' "$folder/CTestTestfile.cmake"
END

echo 'echo 3 passed, 1 failed; exit 1' >tools/test-platforms
echo 'echo no packages; exit 1' >tools/test-musl

# ends BUILDS STATUS LAST-LINE
ends()
{
	rm -rf build
	status=0
	# shellcheck disable=SC2086 # words
	sh tools/test-all $1 >said 2>&1 || status=$?
	[ "$status $(tail -n 1 said)" = "$2 $3" ] || {
		cat said
		echo "FAILED: $1 ended with $status, not with $2 and \"$3\""
		exit 1
	}
}

ends platforms 1 '3 passed, 1 failed'
ends musl 1 '0 passed, 1 failed'
ends dev 0 '2 passed, 0 failed'
grep -qx 'dev shaky' said
ends release 0 '2 passed, 0 failed' # build/tools is left out
grep -qx 'release shaky' said
ends clang 1 '1 passed, 2 failed'
ends tsan 1 '1 passed, 1 failed'
ends count 1 '1 passed, 1 failed'
ends portable 1 '2 passed, 1 failed'
[ ! -s build/test-all.unsteady ]
ends 'asan valgrind clang-lto gcc-lto' 1 '5 passed, 1 failed'
grep -Eqx 'valgrind +[0-9]+ +[0-9]+' said
export SENNIT_STRICT=1
ends dev 1 '1 passed, 1 failed'
