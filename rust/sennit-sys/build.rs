// SPDX-License-Identifier: Apache-2.0
//! Finds libsennit and libsennit-io: in SENNIT_LIB_DIR, else by pkg-config, else where the
//! linker looks by itself.
use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=SENNIT_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if env::var_os("CARGO_FEATURE_IO").is_some() {
        println!("cargo:rustc-link-lib=dylib=sennit-io");
    }
    println!("cargo:rustc-link-lib=dylib=sennit");
    let folder = env::var("SENNIT_LIB_DIR").ok().or_else(|| {
        let said = Command::new("pkg-config")
            .args(["--variable=libdir", "sennit"])
            .output()
            .ok()?;
        let text = String::from_utf8(said.stdout).ok()?;
        Some(text.trim().to_string()).filter(|folder| !folder.is_empty())
    });
    if let Some(folder) = folder {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:libdir={folder}");
    }
}
