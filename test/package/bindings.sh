#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bindings.sh - what `cmake --install` writes of the bindings works from there,
# as docs/bindings.md tells: the Python package finds the library of its prefix
# by itself, and a crate in another folder uses those of the prefix. `cargo
# package` would take every file of a crate, and no other.
#
# Environment: SOURCE_DIR (.), BUILD_DIR (a build).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
SOURCE_DIR=$(cd "$SOURCE_DIR" && pwd)

prefix=$scratch/prefix
unset LD_LIBRARY_PATH PYTHONPATH SENNIT_LIB_DIR

quietly cmake --install "$BUILD_DIR" --prefix "$prefix"

native=$(find "$prefix" -name '_native*.so')
if [ "$native" ]; then
	folder=$(dirname "$(dirname "$native")")
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$folder \
		python3 -W error - "$prefix" <<-'END' ||
		import importlib.metadata
		import os
		import sys

		import sennit

		assert sennit.__file__.startswith(sys.argv[1]), sennit.__file__
		assert importlib.metadata.version("sennit") == sennit.__version__
		with sennit.Scheduler(workers=1) as scheduler:
		    assert scheduler.submit(pow, 2, 5).result() == 32
		with open("/proc/self/maps", encoding="utf-8") as maps:
		    libraries = {line.split()[5] for line in maps
		                 if "libsennit.so" in line}
		assert all(os.path.realpath(path).startswith(
		    os.path.realpath(sys.argv[1])) for path in libraries), libraries
	END
		fail "the installed Python package does not work"
fi

command -v cargo >/dev/null && command -v rustc >/dev/null || {
	echo "no cargo: only the Python package, if it is built"
	exit 0
}
crates=$prefix/share/sennit/rust
mkdir -p "$scratch/user/src"
cat >"$scratch/user/Cargo.toml" <<END
[package]
name = "user"
version = "1.0.0"
edition = "2021"

[dependencies]
sennit = { path = "$crates/sennit" }
END
sed -n '/^```rust$/,/^```$/p' "$crates/sennit/README.md" | sed '1d; $d' \
	>"$scratch/user/src/main.rs"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name sennit.pc)")
libdir=$(dirname "$(find "$prefix" -name libsennit.so)")
export PKG_CONFIG_PATH CARGO_HOME="$scratch/home"
chmod -R a-w "$crates" # as in /usr
cd "$scratch/user"
quietly cargo build --offline --quiet
LD_LIBRARY_PATH=$libdir target/debug/user ||
	fail "the program of the crate's README ended with $?"
chmod -R u+w "$crates"

# In a copy: cargo leaves nothing in the tree.
cp -R "$SOURCE_DIR/bindings/rust" "$scratch/rust"
cd "$scratch/rust"
for crate in sennit-sys sennit; do
	cargo package --offline --list -p $crate 2>"$scratch/log" |
		grep -v -e '^Cargo.lock$' -e '^Cargo.toml.orig$' |
		sort >"$scratch/listed" || fail "$(cat "$scratch/log")"
	(cd $crate && find . -type f | sed 's|^\./||' | sort) >"$scratch/files"
	diff "$scratch/files" "$scratch/listed" ||
		fail "cargo would not package exactly the files of $crate"
	grep -rn 'include_str.*"\.\./\.\./' $crate &&
		fail "$crate needs a file that is not packaged"
done
echo "used from the prefix: Rust${native:+, Python}"
