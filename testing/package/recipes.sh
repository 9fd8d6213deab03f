#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# recipes.sh - what can be said without vcpkg, Conan, GitHub and a build of the
# Debian packages of the files for them: each parses, knows every library, sets
# only options that CMakeLists.txt has, and the workflow runs .ci/run in the
# Debian release that install-deps is for. A release needs that workflow, and the
# nightly one has all steps of tools/nightly. tools/check-versions compares the
# versions; Conan's recipe reads it in the headers.
#
# Environment: SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"
cd "${SOURCE_DIR:-.}"

needs python3

# What the recipe imports, without behaviour.
mkdir -p "$scratch/conan/tools"
cat >"$scratch/conan/__init__.py" <<'END'
class ConanFile:
    pass
END
: >"$scratch/conan/tools/__init__.py"
echo 'CMake = CMakeToolchain = cmake_layout = None' \
	>"$scratch/conan/tools/cmake.py"
cat >"$scratch/conan/tools/files.py" <<'END'
copy = None


def load(recipe, path):
    with open(path) as file:
        return file.read()
END

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$scratch:packaging/conan python3 - <<'END'
import json
import os
import re
import sys

import conanfile

bad = []
header = open("core/include/sennit/base.h").read()
version = ".".join(re.findall(r"#define SENNIT_VERSION_\w+ (\d+)", header))

port = "packaging/vcpkg/ports/sennit/"
recipe = conanfile.Sennit()
recipe.recipe_folder = os.path.abspath("packaging/conan")
recipe.set_version()
if recipe.version != version:
    bad.append("conanfile.py: the version is not " + version)

# A choice for each library beside libsennit itself.
libraries = os.popen("sh tools/list-calls --packaged").read().split()
parts = {name[len("libsennit-"):] for name in libraries} - {""}
if set(json.load(open(port + "vcpkg.json"))["features"]) != parts:
    bad.append("vcpkg.json: the features are not " + ", ".join(sorted(parts)))
if set(recipe.options) - {"shared"} != parts:
    bad.append("conanfile.py: no option for a library, or one more")

soname = os.popen("sh tools/abi version").read().strip()
control = open("debian/control").read()
# Otherwise package/debian would be skipped.
needs = re.search(r"Build-Depends:(.*?)\n\S", control, re.S)[1]
installed = os.popen("sh tools/install-deps --list tests; "
                     "sh tools/install-deps --list mpi").read().split()
for name in re.findall(r"([\w.+-]+)[^,]*,", needs):
    if name.replace("-compat", "") not in installed:
        bad.append("install-deps: not %s, which debian/control needs" % name)
for name in libraries:
    if "Package: %s%s\n" % (name, soname) not in control:
        bad.append("debian/control: no package %s%s" % (name, soname))
    if not os.path.exists("debian/%s%s.install" % (name, soname)):
        bad.append("debian: no %s%s.install" % (name, soname))

cmake = "".join(open(path).read() for path in
                ("CMakeLists.txt", "cmake/project.cmake"))
options = set(re.findall(r"^option\((SENNIT_\w+)", cmake, re.M))
options |= set(re.findall(r"^set\((SENNIT_\w+) \S+ CACHE", cmake, re.M))
for path in (port + "portfile.cmake", "packaging/conan/conanfile.py",
             "packaging/rpm/sennit.spec", "packaging/alpine/APKBUILD",
             "tools/build", "debian/rules"):
    text = open(path).read()
    for name in set(re.findall(r"SENNIT_(?!VERSION)[A-Z]+\b", text)):
        if name not in options:
            bad.append("%s: no option %s" % (path, name))

workflow = open(".github/workflows/ci.yml").read()
try:
    import yaml
    job = yaml.safe_load(workflow)["jobs"]["test-all"]
    if "bash .ci/run" not in job["strategy"]["matrix"]["command"] or not any(
            step.get("run", "").endswith("\n${{ matrix.command }}\n")
            for step in job["steps"]):
        bad.append("ci.yml: no step runs .ci/run")
    release = yaml.safe_load(open(".github/workflows/release.yml"))
    if "tools/release-notes" not in release["jobs"]["release"]["steps"][1][
            "run"]:
        bad.append("release.yml: its notes are not those of CHANGELOG.md")
    if release["jobs"]["release"]["needs"] != "ci" or \
            release["jobs"]["ci"]["uses"] != "./.github/workflows/ci.yml":
        bad.append("release.yml: the release does not wait for CI")
    nightly = yaml.safe_load(open(".github/workflows/nightly.yml"))
    steps = set(re.findall(r"^step (\S+)", open("tools/nightly").read(), re.M))
    if set(nightly["jobs"]["nightly"]["strategy"]["matrix"]["step"]) != steps:
        bad.append("nightly.yml: not the steps of tools/nightly")
except ImportError:
    print("no python3-yaml: ci.yml is not parsed")
if "image: debian:12\n" not in workflow:
    bad.append("ci.yml: not Debian 12")
print("\n".join(bad) or "recipes: " + version)
sys.exit(bool(bad))
END
