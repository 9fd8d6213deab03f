#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_tokio.sh CARGO FILE - compiles a program in Rust with the crates that
# Debian's librust-tokio-dev installs, and runs it.
set -eu
. "$(dirname "$0")/../script.sh"

name=$(basename "$2" .rs)
mkdir -p "$scratch/src" "$scratch/.cargo"
cp "$2" "$scratch/src/main.rs"
cat >"$scratch/Cargo.toml" <<END
[package]
name = "$name"
version = "0.0.0"
edition = "2021"
[dependencies]
tokio = { version = "1", features = ["macros", "rt-multi-thread", "sync", "time"] }
END
cat >"$scratch/.cargo/config.toml" <<'END'
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "/usr/share/cargo/registry"
END
cd "$scratch"
"$1" build --quiet --offline >&2
"target/debug/$name"
