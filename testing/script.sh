# SPDX-License-Identifier: Apache-2.0
# script.sh - what scripts of test share. They read it before they change the
# folder:
#	. "$(dirname "$0")/../script.sh"
#
# $scratch is an empty folder, which is removed when the script ends, also after
# a failure. A script with more to end defines clean_up() again.
# shellcheck shell=sh

# skip WHY...
skip()
{
	echo "skipped: $*"
	exit 77
}

# needs PROGRAM...: without one of them the script is skipped.
needs()
{
	for needed; do
		command -v "$needed" >/dev/null || skip "no $needed"
	done
}

# fail WHY...
fail()
{
	echo "$*"
	exit 1
}

# quietly COMMAND...: what it prints is shown only if it fails: the end of it.
quietly()
{
	"$@" >"$scratch/log" 2>&1 && return
	tail -n 50 "$scratch/log"
	fail "failed: $*"
}

clean_up()
{
	rm -rf "$scratch"
}

# $INCLUDES are the options for the public headers, as cmake/tests.cmake sets them.
# They are words: each product has a folder of its own.
if [ -z "${INCLUDES:-}" ]; then
	source_dir=$(cd "${SOURCE_DIR:-.}" && pwd)
	INCLUDES=
	for folder in "$source_dir"/*/include/sennit; do
		INCLUDES="$INCLUDES -I${folder%/sennit}"
	done
fi

scratch=$(mktemp -d)
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

# installed PREFIX: installs $BUILD_DIR there, one script at a time, since CMake
# writes the list of files into the build. $scratch/installed is that list.
installed()
{
	# shellcheck disable=SC2016 # of the inner shell
	quietly flock "$BUILD_DIR/install.lock" sh -c \
		'cmake --install "$1" --prefix "$2" &&
			cp "$1/install_manifest.txt" "$3"' \
		- "$BUILD_DIR" "$1" "$scratch/installed"
}
