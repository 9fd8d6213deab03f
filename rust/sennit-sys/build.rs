// SPDX-License-Identifier: Apache-2.0
//! Finds libsennit, libsennit-io and libsennit-tls, in SENNIT_LIB_DIR, else by
//! pkg-config, else where the linker looks by itself. With the feature
//! `vendored` it compiles them instead, from the single files of each library.
use std::path::{Path, PathBuf};
use std::{env, process::Command};

/// A library, its single file, and what that is compiled and linked with.
struct Library {
    name: &'static str,
    file: &'static str,
    needs: &'static [&'static str],
}

/// In the order in which a linker wants them: users first.
fn libraries() -> Vec<Library> {
    let mut all = Vec::new();
    if feature("TLS") {
        all.push(Library {
            name: "sennit-tls",
            file: "sennit_tls.c",
            needs: &["ssl", "crypto"],
        });
    }
    if feature("IO") {
        all.push(Library {
            name: "sennit-io",
            file: "sennit_io.c",
            needs: if feature("URING") { &["uring"] } else { &[] },
        });
    }
    all.push(Library { name: "sennit", file: "sennit.c", needs: &[] });
    all
}

fn feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if feature("VENDORED") {
        compile_libraries();
    } else {
        find_libraries();
    }
}

fn find_libraries() {
    println!("cargo:rerun-if-env-changed=SENNIT_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    for library in libraries() {
        println!("cargo:rustc-link-lib=dylib={}", library.name);
    }
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

fn compile_libraries() {
    let out = PathBuf::from(variable("OUT_DIR"));
    let source = single_files(&out);
    let mut needs: Vec<&str> = Vec::new();
    for library in libraries() {
        let object = out.join(format!("{}.o", library.name));
        let archive = out.join(format!("lib{}.a", library.name));
        run(compiler()
            .arg("-c")
            .arg("-o")
            .arg(&object)
            .arg("-I")
            .arg(&source)
            .arg(source.join(library.file)));
        let _ = std::fs::remove_file(&archive);
        run(Command::new(tool("AR", "ar")).arg("crs").arg(archive).arg(object));
        println!("cargo:rustc-link-lib=static={}", library.name);
        needs.extend(library.needs);
    }
    for need in needs {
        println!("cargo:rustc-link-lib=dylib={need}");
    }
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:libdir={}", out.display());
}

/// The folder with the single files: that of the crate, or a new one, if the
/// crate is in the source tree of sennit.
fn single_files(out: &Path) -> PathBuf {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let packed = here.join("vendor");
    println!("cargo:rerun-if-changed={}", packed.display());
    if packed.join("sennit.c").exists() {
        return packed;
    }
    let tree = here.join("../..");
    let amalgamate = tree.join("tools/amalgamate");
    if !amalgamate.exists() {
        stop(
            "the feature \"vendored\" needs the crate in the source tree of \
             sennit, or with a folder vendor, which the tree's \
             `python3 tools/amalgamate sennit-sys/vendor` writes. See the \
             README of the crate.",
        );
    }
    let folder = out.join("vendor");
    for library in libraries() {
        let product = library.name.strip_prefix("sennit-").unwrap_or("core");
        for part in ["include", "src"] {
            let part = tree.join(product).join(part);
            println!("cargo:rerun-if-changed={}", part.display());
        }
        run(Command::new("python3")
            .arg("-B")
            .arg(&amalgamate)
            .arg(&folder)
            .arg(format!("lib{}", library.name)));
    }
    folder
}

/// The compiler, with options for the target: docs/embedding.md says why.
fn compiler() -> Command {
    let mut cc = Command::new(tool("CC", "cc"));
    cc.args(["-std=gnu11", "-O2", "-g", "-DNDEBUG", "-fPIC", "-pthread"]);
    cc.arg("-fasynchronous-unwind-tables");
    let processor = variable("CARGO_CFG_TARGET_ARCH");
    if ["x86", "x86_64"].contains(&processor.as_str()) {
        cc.arg("-fcf-protection=branch");
    }
    if ["x86", "x86_64", "s390x", "powerpc64"].contains(&processor.as_str()) {
        cc.arg("-fstack-clash-protection");
    }
    if feature("URING") {
        cc.arg("-DSENNIT_HAVE_URING");
    }
    if let Ok(options) = env::var("CFLAGS") {
        cc.args(options.split_whitespace());
    }
    println!("cargo:rerun-if-env-changed=CFLAGS");
    cc
}

/// A program, as the environment names it for the target: CC_<target>,
/// TARGET_CC (where that is not the host) or CC.
fn tool(name: &str, default: &str) -> String {
    let target = variable("TARGET");
    let mut names = vec![
        format!("{name}_{target}"),
        format!("{name}_{}", target.replace('-', "_")),
    ];
    if target != variable("HOST") {
        names.push(format!("TARGET_{name}"));
    }
    names.push(name.to_string());
    for name in &names {
        println!("cargo:rerun-if-env-changed={name}");
    }
    names
        .iter()
        .find_map(|name| env::var(name).ok())
        .unwrap_or_else(|| default.to_string())
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| stop(&format!("cargo sets no {name}")))
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => stop(&format!("{command:?} ended with {status}")),
        Err(error) => stop(&format!("{command:?}: {error}")),
    }
}

fn stop(why: &str) -> ! {
    eprintln!("sennit-sys: {why}");
    std::process::exit(1)
}
