#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# processors.sh - CMake finds the folder of core/src/arch for the compiler's target,
# takes another one if told so, and refuses x32 and unknown names with a line
# that says so. Meson, if it is installed, refuses x32 too.
#
# Environment: SOURCE_DIR, CC.
set -eu

: "${SOURCE_DIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${CC:=cc}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bad=0

# The compiler is not asked to link: there may be no libraries for the target.
configure()
{
	rm -rf "$folder/build"
	cmake -S "$SOURCE_DIR" -B "$folder/build" -DCMAKE_C_COMPILER="$CC" \
		-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
		-DSENNIT_BUILD= -DSENNIT_COMPONENTS= \
		"$@" >"$folder/log" 2>&1
}

# refused WORDS OPTION...
refused()
{
	words=$1
	shift
	if configure "$@"; then
		echo "processors: accepted $*"
		bad=1
	elif ! tr -s ' \n' ' ' <"$folder/log" | grep -q "$words"; then
		echo "processors: no \"$words\" for $*:"
		cat "$folder/log"
		bad=1
	fi
}

# finds PROCESSOR OPTION...
finds()
{
	expected=$1
	shift
	configure "$@" || {
		cat "$folder/log"
		bad=1
	}
	found=$(sed -n 's/^SENNIT_PROCESSOR:INTERNAL=//p' \
		"$folder/build/CMakeCache.txt")
	[ "$found" = "$expected" ] || {
		echo "processors: $found instead of $expected for $*"
		bad=1
	}
}

# Meson links a program first, for which there may be no libraries.
meson_refuses_x32()
{
	cat >"$folder/x32" <<-END
		[binaries]
		c = ['$CC', '-mx32', '-nostdlib']
		ar = 'ar'
		[host_machine]
		system = 'linux'
		cpu_family = 'x86_64'
		cpu = 'x86_64'
		endian = 'little'
	END
	meson setup --cross-file "$folder/x32" "$folder/meson" "$SOURCE_DIR" \
		>"$folder/log" 2>&1 || :
	grep -q 'ERROR.*x32 (-mx32) is not supported' "$folder/log" || {
		echo 'processors: Meson does not refuse x32:'
		cat "$folder/log"
		bad=1
	}
}

refused 'SENNIT_ARCH: vax is not known' -DSENNIT_ARCH=vax
if [ "$("$CC" -dumpmachine | sed 's/-.*//')" = x86_64 ]; then
	finds x86_64
	finds i386 -DCMAKE_C_FLAGS=-m32
	refused 'x32 (-mx32) is not supported' -DCMAKE_C_FLAGS=-mx32
	! command -v meson >/dev/null || meson_refuses_x32
fi
exit $bad
