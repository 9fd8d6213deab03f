#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rpm.sh - the RPM packages build from a source tarball, in a folder of their
# own. What they contain, unpacked into another root, compiles and runs the
# program in README.md, shared and static. rpmlint finds no error, where it is
# installed. The build needs no package of RPM's: --nodeps.
#
# Environment: CC (cc), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}"
SOURCE_DIR=$(cd "$SOURCE_DIR" && pwd)

needs rpmbuild rpm2cpio cpio git pkg-config
unset CXX CFLAGS LDFLAGS MAKEFLAGS
spec=$SOURCE_DIR/packaging/rpm/sennit.spec

version=$(sed -n 's/^Version: *//p' "$spec")
mkdir -p "$scratch/rpm/SOURCES" "$scratch/root"
(cd "$SOURCE_DIR" && git ls-files -co --exclude-standard CMakeLists.txt \
	'*.md' LICENSE NOTICE cmake core cpp diag docs http io marl mpi rust tls \
	tools |
	tar -czf "$scratch/rpm/SOURCES/sennit-$version.tar.gz" \
		--transform "s|^|sennit-$version/|" -T -)

# Not optimised, because this takes a third of the time.
quietly nice rpmbuild -bb --nodeps --define "_topdir $scratch/rpm" \
	--define "optflags -O0" --define "debug_package %{nil}" \
	--define "_smp_mflags -j2" --define "dist .test" "$spec"
if command -v rpmlint >/dev/null; then
	quietly rpmlint "$spec"
fi
count=0
for package in "$scratch"/rpm/RPMS/*/*.rpm; do
	rpm2cpio "$package" | (cd "$scratch/root" && cpio -idm --quiet)
	count=$((count + 1))
done
[ $count = 7 ] || fail "$count packages: $(ls "$scratch"/rpm/RPMS/*)"

# pkg-config's files are relative to where they stand.
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/root" -name sennit.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir sennit)
export LD_LIBRARY_PATH="$libdir"
hello=$(find "$scratch/root" -path '*/doc/*' -name hello.c)
for how in '' --static; do
	# shellcheck disable=SC2046,SC2086 # flags are words
	"$CC" ${how:+-static} -o "$scratch/hello" "$hello" \
		$(pkg-config $how --cflags --libs sennit) ||
		fail "README's program does not compile: $how"
	"$scratch/hello" >"$scratch/said" || fail "it ended with $?: $how"
done
echo "$count packages, built and used"
