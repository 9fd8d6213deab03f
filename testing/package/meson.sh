#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# meson.sh - a Meson project that gets sennit by packaging/meson/sennit.wrap, or
# contains it as a subproject, finds it; with the wrap it builds and runs. Its
# libraries have the SONAME, the symbols and the needs of those that CMake has
# built. Installed, pkg-config finds them.
#
# Environment: CC (cc), SOURCE_DIR (.), LIB_SHARED, BUILD_DIR.
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}" "${LIB_SHARED:=build/dev/libsennit.so}"

needs meson
[ -e "$LIB_SHARED" ] || skip "no $LIB_SHARED to compare with"

project=$scratch/project
wrap=$SOURCE_DIR/packaging/meson/sennit.wrap
tarball=$(sed -n 's/^source_filename = //p' "$wrap")
folder=$(sed -n 's/^directory = //p' "$wrap")
files=$project/subprojects/packagefiles
mkdir -p "$files"
tar -C "$SOURCE_DIR" -czf "$files/$tarball" \
	--transform "s|^|$folder/|" LICENSE NOTICE README.md CHANGELOG.md \
	cmake core cpp diag http io marl meson.build meson_options.txt mpi tls \
	tools
hash=$(sha256sum <"$files/$tarball")
sed "s/^source_filename.*/&\nsource_hash = ${hash%% *}/" "$wrap" \
	>"$project/subprojects/sennit.wrap"
cp "$SOURCE_DIR/core/examples/hello.c" "$project"
cat >"$project/meson.build" <<'END'
project('user', 'c')
executable('hello', 'hello.c', dependencies: dependency('sennit'))
END

# Not optimised, because this takes a third of the time. Both have no room for
# options that change what the library needs.
quietly env CC="$CC" meson setup "$scratch/build" "$project" \
	--prefix "$scratch/prefix" -Dsennit:optimization=0 \
	-Dsennit:debug=false -Dsennit:default_library=shared
quietly meson compile -C "$scratch/build"
quietly "$scratch/build/hello"
quietly meson install -C "$scratch/build"
# With the other end of schedulers.
quietly meson configure "$scratch/build" -Dsennit:end=count
quietly meson compile -C "$scratch/build"
quietly "$scratch/build/hello"
strings "$scratch/build/subprojects/$folder/libsennit.so" |
	grep -q 'end=count' || fail "-Dend=count has no effect"

# described FILE: its SONAME, needs and symbols.
described()
{
	readelf -dW "$1" | sed -n 's/.*(\(SONAME\|NEEDED\)).*\[/\1 /p' | sort
	nm -D --defined-only "$1" | awk '{ print $NF }' | sort
}

for name in $(sh "$SOURCE_DIR/tools/list-calls" --packaged); do
	ours=$(dirname "$LIB_SHARED")/$name.so
	theirs=$(find "$scratch/prefix" -name "$name.so")
	[ -e "$ours" ] || continue
	described "$ours" >"$scratch/ours"
	described "$theirs" >"$scratch/theirs"
	diff -u "$scratch/ours" "$scratch/theirs" ||
		fail "$name: CMake's and Meson's differ"
done
# Without libsennit-mpi, which only CMake builds.
headers=$(for product in core io tls http diag cpp; do
	(cd "$SOURCE_DIR/$product/include/sennit" && find . -name '*.h*')
done | sort)
installed=$(cd "$scratch/prefix/include/sennit" &&
	find . -path ./compat -prune -o -name '*.h*' -print | sort)
[ "$headers" = "$installed" ] ||
	fail "headers that are not installed, or others:" \
		"$(printf '%s\n' "$headers" "$installed" | sort | uniq -u)"

PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name sennit.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # flags are words
quietly "$CC" -o "$scratch/hello" "$project/hello.c" \
	$(pkg-config --cflags --libs sennit) \
	-Wl,-rpath,"$(pkg-config --variable=libdir sennit)"
quietly "$scratch/hello"

# The same with the source tree in the project.
mv "$project/subprojects/$folder" "$project/subprojects/sennit"
rm "$project/subprojects/sennit.wrap"
cat >"$project/meson.build" <<'END'
project('user', 'c')
sennit = dependency('sennit', fallback: ['sennit', 'sennit_dep'])
executable('hello', 'hello.c', dependencies: sennit)
END
quietly env CC="$CC" PKG_CONFIG_PATH= meson setup "$scratch/tree" "$project"
echo "as CMake's"
