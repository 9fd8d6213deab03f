# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe: conan create packaging/conan."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

TREE = os.path.join("..", "..")


class Sennit(ConanFile):
    name = "sennit"
    license = "Apache-2.0"
    description = "Fibers that wait, on threads that do not"
    topics = ("fibers", "coroutines", "scheduler", "work-stealing")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "io": [True, False],
               "tls": [True, False], "http": [True, False],
               "diag": [True, False]}
    default_options = {"shared": False, "io": True, "tls": True, "http": True,
                       "diag": True}

    def set_version(self):
        header = os.path.join(self.recipe_folder, TREE,
                              "core/include/sennit/base.h")
        self.version = ".".join(
            re.findall(r"^#define SENNIT_VERSION_\w+ (\d+)",
                       load(self, header), re.M))

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, TREE)
        for pattern in ("CMakeLists.txt", "*.md", "LICENSE", "NOTICE",
                        "cmake/*", "core/*", "cpp/*", "diag/*", "docs/*",
                        "http/*", "io/*", "marl/*", "mpi/*", "rust/*", "tls/*",
                        "tools/*"):
            copy(self, pattern, tree, self.export_sources_folder)

    def requirements(self):
        if self.options.io:
            self.requires("liburing/[>=2.3]")
        if self.options.tls:
            self.requires("openssl/[>=3.0]")

    def configure(self):
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        components = [name for name in ("io", "tls", "http", "diag")
                      if getattr(self.options, name)]
        toolchain.cache_variables["SENNIT_LIBRARIES"] = (
            "shared" if self.options.shared else "static")
        toolchain.cache_variables["SENNIT_COMPONENTS"] = ",".join(components)
        toolchain.cache_variables["SENNIT_BUILD"] = "manual"
        toolchain.cache_variables["SENNIT_LIBDW_LIBRARY"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder,
             os.path.join(self.package_folder, "licenses"))
        copy(self, "NOTICE", self.source_folder,
             os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "sennit")
        core = self.cpp_info.components["sennit"]
        core.libs = ["sennit"]
        core.set_property("cmake_target_name", "sennit::sennit")
        core.set_property("pkg_config_name", "sennit")
        core.system_libs = ["pthread", "dl", "m"]
        if self.options.io:
            io = self.cpp_info.components["io"]
            io.libs = ["sennit-io"]
            io.set_property("cmake_target_name", "sennit::io")
            io.set_property("pkg_config_name", "sennit-io")
            io.requires = ["sennit", "liburing::liburing"]
        if self.options.tls:
            tls = self.cpp_info.components["tls"]
            tls.libs = ["sennit-tls"]
            tls.set_property("cmake_target_name", "sennit::tls")
            tls.set_property("pkg_config_name", "sennit-tls")
            tls.requires = ["io", "openssl::openssl"]
        if self.options.http:
            http = self.cpp_info.components["http"]
            http.libs = ["sennit-http"]
            http.set_property("cmake_target_name", "sennit::http")
            http.set_property("pkg_config_name", "sennit-http")
            http.requires = ["tls" if self.options.tls else "io"]
        if self.options.diag:
            diag = self.cpp_info.components["diag"]
            diag.libs = ["sennit-diag"]
            diag.set_property("cmake_target_name", "sennit::diag")
            diag.set_property("pkg_config_name", "sennit-diag")
            diag.requires = ["sennit"]
