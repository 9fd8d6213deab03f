#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vendored.sh - the crates with the feature "vendored" need no libsennit that is
# installed: in a copy outside of the source tree, with the single files beside
# them, the tests of tasks, sockets and TLS pass, and no shared library of sennit
# is linked. Without those files the build says what is missing.
#
# Environment: CARGO, SOURCE_DIR (.).
set -eu

: "${CARGO:=cargo}" "${SOURCE_DIR:=.}"
unset SENNIT_LIB_DIR LD_LIBRARY_PATH PKG_CONFIG_PATH CARGO_TARGET_DIR
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -R "$SOURCE_DIR/rust" "$scratch/rust"
rm -rf "$scratch/rust/sennit-sys/vendor"
export CARGO_HOME="$scratch/home"
cd "$scratch/rust"

if "$CARGO" build --offline --locked --features vendored \
	>"$scratch/said" 2>&1; then
	echo "the sources are not missed"
	exit 1
fi
grep -q 'tools/amalgamate sennit-sys/vendor' "$scratch/said" || {
	cat "$scratch/said"
	exit 1
}

features=vendored
libraries='libsennit libsennit-io'
tests='--test tasks --test io'
if [ "${WITH_TLS:-}" ]; then
	features=vendored,tls
	libraries="$libraries libsennit-tls"
	tests="$tests --test tls"
fi
for library in $libraries; do
	python3 -B "$SOURCE_DIR/tools/amalgamate" sennit-sys/vendor "$library"
done
# shellcheck disable=SC2086 # words
"$CARGO" test --offline --locked -p sennit --features $features $tests
for program in target/debug/deps/io-*; do
	[ -x "$program" ] || continue
	! ldd "$program" | grep sennit || {
		echo "$program needs an installed library"
		exit 1
	}
	seen=yes
done
[ "${seen:-}" ]
"$CARGO" package --offline --list --allow-dirty -p sennit-sys |
	grep -qx vendor/sennit.c
