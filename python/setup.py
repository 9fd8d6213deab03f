# SPDX-License-Identifier: Apache-2.0
"""setup.py - compiles sennit._native for pip; pyproject.toml has the rest.

In the source tree of sennit the wheel contains the library: CMake compiles it.
Elsewhere, and with SENNIT_PYTHON_SYSTEM=1, the module is linked to the library
that pkg-config finds.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import native_source  # noqa: E402

TREE = HERE.parent
IN_TREE = ((TREE / "core/include/sennit.h").exists()
           and not os.environ.get("SENNIT_PYTHON_SYSTEM"))


def version():
    """That of the headers."""
    if IN_TREE:
        text = (TREE / "core/include/sennit/base.h").read_text(encoding="utf-8")
        return ".".join(re.search(rf"SENNIT_VERSION_{part} (\d+)", text)[1]
                        for part in ("MAJOR", "MINOR", "PATCH"))
    return pkg_config("--modversion", "sennit")[0]


def pkg_config(*words):
    """What pkg-config prints, as words."""
    return shlex.split(subprocess.run(
        ["pkg-config", *words], check=True, stdout=subprocess.PIPE,
        text=True).stdout)


class BuildNative(build_ext):
    """Compiles the library first, if the tree is there."""

    def build_extension(self, ext):
        folder = pathlib.Path(self.build_temp).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        native_source.write(str(folder / "native.c"))
        ext.sources = [str(folder / "native.c")]
        packages = ["sennit-io", "sennit"]
        if IN_TREE:
            prefix = self.install_library(folder)
            os.environ["PKG_CONFIG_PATH"] = str(prefix / "lib/pkgconfig")
            packages.insert(0, "--static")
        ext.extra_compile_args = pkg_config("--cflags", *packages)
        ext.extra_link_args = pkg_config("--libs", *packages)
        if IN_TREE:
            # A wheel is not unloaded; tasks may run to the end.
            ext.extra_link_args.append("-Wl,-z,nodelete")
        super().build_extension(ext)

    @staticmethod
    def install_library(folder):
        """The static libraries, as CMake installs them below `folder`."""
        prefix = folder / "prefix"
        subprocess.run(
            ["cmake", "-S", str(TREE), "-B", str(folder / "cmake"),
             "-DCMAKE_BUILD_TYPE=Release", "-DSENNIT_LIBRARIES=static",
             "-DSENNIT_COMPONENTS=io", "-DSENNIT_BUILD=",
             "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
             f"-DCMAKE_INSTALL_PREFIX={prefix}",
             "-DCMAKE_INSTALL_LIBDIR=lib"], check=True)
        subprocess.run(["cmake", "--build", str(folder / "cmake"), "-j",
                        str(len(os.sched_getaffinity(0)))], check=True)
        subprocess.run(["cmake", "--install", str(folder / "cmake")],
                       check=True)
        return prefix


setup(
    version=version(),
    ext_modules=[Extension("sennit._native", [], py_limited_api=True)],
    cmdclass={"build_ext": BuildNative},
    options={"bdist_wheel": {"py_limited_api": "cp38"}},
)
