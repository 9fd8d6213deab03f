#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bindings.sh - what `cmake --install` writes of the bindings works from there,
# as docs/bindings.md tells: the Python package finds the library of its prefix
# by itself, and a crate in another folder uses those of the prefix. `cargo
# package` would take every file of a crate, and no other, and `cargo publish`
# accepts both.
#
# Environment: SOURCE_DIR (.), BUILD_DIR (a build).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
SOURCE_DIR=$(cd "$SOURCE_DIR" && pwd)

prefix=$scratch/prefix
unset LD_LIBRARY_PATH PYTHONPATH SENNIT_LIB_DIR CARGO_TARGET_DIR

installed "$prefix"

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
io=false
[ -z "$(find "$prefix" -name libsennit-io.so)" ] || io=true
mkdir -p "$scratch/user/src"
cat >"$scratch/user/Cargo.toml" <<END
[package]
name = "user"
version = "1.0.0"
edition = "2021"

[dependencies]
sennit = { path = "$crates/sennit", default-features = $io }
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
cp -R "$SOURCE_DIR/rust" "$scratch/rust"
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

command -v git >/dev/null || {
	echo "no git: cargo publish is not tried"
	exit 0
}
# To an index of this folder, without crates, in place of the one in the network.
mkdir "$scratch/index"
(
	cd "$scratch/index"
	echo '{"dl":"file:///none","api":"https://example.org"}' >config.json
	git init -q
	git add config.json
	git -c user.name=test -c user.email=test -c commit.gpgsign=false \
		commit -q -m index
)
mkdir .cargo
cat >.cargo/config.toml <<END
[registries.here]
index = "file://$scratch/index"
[source.crates-io]
replace-with = "here"
END
export SENNIT_LIB_DIR="$libdir"
features=
$io || features=--no-default-features
publish() # ARGUMENT...
{
	# shellcheck disable=SC2086 # one word or none
	cargo publish --dry-run --allow-dirty --registry here $features "$@" \
		>"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
	! grep '^warning: manifest' "$scratch/log" ||
		fail "a manifest lacks something"
}
case $(cargo publish --help) in
*--workspace*) publish --workspace ;;
*) publish -p sennit-sys ;; # the other needs it in the index
esac
echo "used from the prefix: Rust${native:+, Python}"
