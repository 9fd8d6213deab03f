#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# debian.sh - the Debian packages build from a copy of the tree, lintian has
# nothing against them, and the programs in README.md and in that of the Python
# package run against what they contain: the scripts that autopkgtest runs, in a
# root folder of their own. The documentation is there as HTML, and no two
# packages contain the same file. With SENNIT_TEST_TWICE they are built again, in another folder,
# with another umask, time zone and language, and each must be the same.
#
# Environment: SOURCE_DIR (.), SENNIT_TEST_TWICE.
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}" "${SENNIT_TEST_TWICE:=}"

needs dpkg-buildpackage dh lintian git
SOURCE_DATE_EPOCH=$(cd "$SOURCE_DIR" && dpkg-parsechangelog -S Timestamp)
export SOURCE_DATE_EPOCH
# In half of the time: not optimised, little compressed, and packages for
# debuggers only where all are compared.
export DEB_BUILD_OPTIONS=noopt DPKG_DEB_COMPRESSOR_LEVEL=1
[ "$SENNIT_TEST_TWICE" ] || DEB_BUILD_OPTIONS='noopt noautodbgsym'
unset CC CXX CFLAGS LDFLAGS MAKEFLAGS

# packages FOLDER: builds them there.
packages()
{
	mkdir -p "$scratch/$1/sennit"
	(cd "$SOURCE_DIR" && git ls-files -co --exclude-standard |
		tar -cf - -T -) | tar -C "$scratch/$1/sennit" -xf -
	cd "$scratch/$1/sennit"
	dpkg-checkbuilddeps || skip "packages to build with are missing"
	quietly nice dpkg-buildpackage -us -uc -b
	cd "$OLDPWD"
}

packages first
# lintian takes half a minute for manual pages, which check/manual has had read
# by mandoc, but for those of programs.
without='-X documentation/manual'
[ -z "$SENNIT_TEST_TWICE" ] || without=
# shellcheck disable=SC2086 # words
lintian --fail-on error,warning --allow-root $without \
	"$scratch"/first/*.changes >"$scratch/said" 2>&1 ||
	fail "$(cat "$scratch/said")"
[ ! -s "$scratch/said" ] || fail "lintian: $(cat "$scratch/said")"

# pkg-config's files are relative to where they stand.
root=$scratch/root
mkdir "$root"
for deb in "$scratch"/first/*.deb; do
	case $deb in *-dbgsym_*) continue ;; esac
	dpkg-deb -x "$deb" "$root"
done
libdir=$(dirname "$(find "$root" -name libsennit.a)")
mkdir "$scratch/tmp"
AUTOPKGTEST_TMP=$scratch/tmp SENNIT_ROOT=$root LD_LIBRARY_PATH=$libdir \
	PKG_CONFIG_PATH=$libdir/pkgconfig \
	sh "$SOURCE_DIR/debian/tests/readme" ||
	fail "README's program does not compile or run against the packages"

if python3 -c 'import cffi' 2>/dev/null; then
	SENNIT_ROOT=$root LD_LIBRARY_PATH=$libdir PYTHONDONTWRITEBYTECODE=1 \
		PYTHONPATH=$root/usr/lib/python3/dist-packages \
		sh "$SOURCE_DIR/debian/tests/python" ||
		fail "the Python package does not run"
fi
doc=$root/usr/share/doc/libsennit-doc
for page in index.html docs/tutorial.html man/sennit_mutex_lock.3.html; do
	[ -s "$doc/html/$page" ] || fail "libsennit-doc lacks html/$page"
done
[ -s "$root/usr/share/sennit/rust/sennit/Cargo.toml" ] ||
	fail "libsennit-dev lacks the crates"
twice=$(for deb in "$scratch"/first/*.deb; do
	dpkg-deb -c "$deb" | awk '$1 !~ /^d/ { print $6 }'
done | sort | uniq -d)
[ -z "$twice" ] || fail "in two packages: $twice"

[ "$SENNIT_TEST_TWICE" ] || {
	echo "built, clean by lintian, used"
	exit 0
}
umask 027
export TZ=Asia/Kathmandu LC_ALL=C.UTF-8
packages second/deeper
for deb in "$scratch"/first/*.deb; do
	name=$(basename "$deb")
	again=$scratch/second/deeper/$name
	case $name in
	*-dbgsym_*) # debhelper's estimate of the installed size varies
		dpkg-deb --fsys-tarfile "$deb" >"$scratch/tar"
		dpkg-deb --fsys-tarfile "$again" | cmp - "$scratch/tar"
		;;
	*) cmp "$deb" "$again" ;;
	esac || fail "not reproducible: $name"
done
echo "built twice, the same"
