# SPDX-License-Identifier: Apache-2.0
"""setup.py - compiles sennit._native for pip; pyproject.toml has the rest.

The wheel contains the library, from the single files of libsennit and
libsennit-io: tools/amalgamate writes them in the source tree of sennit, and a
source distribution has them in its folder vendor. With SENNIT_PYTHON_SYSTEM=1
the module is linked to the library that pkg-config finds instead, and with
SENNIT_PYTHON_URING=1 to liburing, so that it can use io_uring.
"""
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import native_source  # noqa: E402

TREE = HERE.parent
IN_TREE = (TREE / "tools/amalgamate").exists()
SYSTEM = bool(os.environ.get("SENNIT_PYTHON_SYSTEM"))
URING = bool(os.environ.get("SENNIT_PYTHON_URING"))
SOURCES = ["sennit.c", "sennit_io.c"]

# What a wheel with the tag manylinux may need, of PEP 600.
PLATFORM = re.compile(r"(lib(c|m|dl|rt|pthread)|ld-linux[-\w]*|ld64)\.so\.\d")


def version():
    """That of the headers."""
    if SYSTEM:
        return pkg_config("--modversion", "sennit")[0]
    header = (TREE / "core/include/sennit/base.h" if IN_TREE
              else HERE / "vendor/sennit.h")
    text = header.read_text(encoding="utf-8")
    return ".".join(re.search(rf"define SENNIT_VERSION_{part} (\d+)", text)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def pkg_config(*words):
    """What pkg-config prints, as words."""
    return shlex.split(said("pkg-config", *words))


def said(*command):
    """What a program prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def amalgamate(folder):
    """Writes the single files into the folder."""
    for name in ("libsennit", "libsennit-io"):
        subprocess.run([sys.executable, "-B", str(TREE / "tools/amalgamate"),
                        str(folder), name], check=True)


def copy_licence(folder):
    """Copies the licence of the tree, or of the source distribution."""
    for name in ("LICENSE", "NOTICE"):
        shutil.copy((TREE if IN_TREE else HERE) / name, folder)


class BuildNative(build_ext):
    """Writes the sources of the module first."""

    def build_extension(self, ext):
        folder = pathlib.Path(self.build_temp).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        native_source.write(str(folder / "native.c"))
        ext.sources = [str(folder / "native.c")]
        if SYSTEM:
            packages = ["sennit-io", "sennit"]
            ext.extra_compile_args = pkg_config("--cflags", *packages)
            ext.extra_link_args = pkg_config("--libs", *packages)
        else:
            self.add_library(ext, folder)
        super().build_extension(ext)

    @staticmethod
    def add_library(ext, folder):
        """Adds the library's sources, and options: docs/embedding.md."""
        vendor = HERE / "vendor"
        if IN_TREE:
            vendor = folder / "vendor"
            amalgamate(vendor)
        ext.sources += [str(vendor / name) for name in SOURCES]
        ext.include_dirs = [str(vendor)]
        ext.extra_compile_args = ["-std=gnu11", "-DNDEBUG", "-pthread",
                                  "-fasynchronous-unwind-tables"]
        if platform.machine() in ("x86_64", "i386", "i686"):
            ext.extra_compile_args.append("-fcf-protection=branch")
        # A module is not unloaded: tasks may run to the end.
        ext.extra_link_args = ["-pthread", "-Wl,-z,nodelete"]
        if URING:
            ext.extra_compile_args.append("-DSENNIT_HAVE_URING")
            ext.extra_link_args.append("-luring")


class SourceDistribution(sdist):
    """Contains the single files, and the licence."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        if IN_TREE:
            amalgamate(pathlib.Path(base_dir) / "vendor")
            copy_licence(base_dir)


class Wheel(bdist_wheel):
    """Contains the licence.

    Has the tag manylinux if it may: it needs glibc, and nothing else.
    """

    def egg2dist(self, egginfo_path, distinfo_path):
        super().egg2dist(egginfo_path, distinfo_path)
        copy_licence(distinfo_path)

    def get_tag(self):
        python, abi, tag = super().get_tag()
        module = next(pathlib.Path(self.bdist_dir).glob("sennit/_native*"),
                      None) if self.bdist_dir else None
        if module is None or not tag.startswith("linux_"):
            return python, abi, tag
        headers = said("objdump", "-p", str(module))
        needed = re.findall(r"NEEDED\s+(\S+)", headers)
        glibc = re.findall(r"\bGLIBC_2\.(\d+)", headers)
        if glibc and all(PLATFORM.match(name) for name in needed):
            tag = f"manylinux_2_{max(17, *map(int, glibc))}_" + tag[6:]
        return python, abi, tag


setup(
    version=version(),
    ext_modules=[Extension("sennit._native", [], py_limited_api=True)],
    cmdclass={"build_ext": BuildNative, "sdist": SourceDistribution,
              "bdist_wheel": Wheel},
    options={"bdist_wheel": {"py_limited_api": "cp38"}},
)
