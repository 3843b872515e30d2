# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""The Conan 2 recipe of kgen: conan create packaging/conan.

The generator, kgen, is left out unless the option tool is set, because it links LLVM 22, which comes from the system.
A project without it names one: -DKGEN_EXECUTABLE=/path/to/kgen.
"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps


class KgenConan(ConanFile):
    name = "kgen"
    description = "Kubernetes clients, informers and controllers for C++"
    license = "Apache-2.0"
    topics = ("kubernetes", "controller", "informer", "client")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "tool": [True, False]}
    default_options = {"shared": False, "fPIC": True, "tool": False}

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._root, "CMakeLists.txt"))
        self.version = re.search(r"^project\(kgen VERSION ([\d.]+)", text, re.MULTILINE)[1]

    def export_sources(self):
        for name in ("CMakeLists.txt", "LICENSE"):
            copy(self, name, self._root, self.export_sources_folder)
        # By folder, since copy() walks through all of its source, and build/ may be large.
        for name in ("cmake", "runtime", "generated", "generator", "templates", "openapi"):
            copy(self, "*", os.path.join(self._root, name), os.path.join(self.export_sources_folder, name))

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Public headers include nlohmann/json_fwd.hpp.
        self.requires("nlohmann_json/[>=3.11 <4]", transitive_headers=True)
        self.requires("openssl/[>=3.0 <4]")
        self.requires("libnghttp2/[>=1.43 <2]")
        self.requires("libyaml/[>=0.2.5 <1]")
        self.requires("re2/[>=20220601]")
        self.requires("boost/[>=1.81]", headers=True, libs=False, visible=False)

    def validate(self):
        check_min_cppstd(self, 23)

    def generate(self):
        # kgen looks for some libraries with pkg-config.
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["KGEN_BUILD_SHARED"] = bool(self.options.shared)
        toolchain.cache_variables["KGEN_BUILD_TOOL"] = bool(self.options.tool)
        toolchain.cache_variables["KGEN_BUILD_TESTS"] = False
        toolchain.cache_variables["KGEN_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["KGEN_JOIN_SOURCES"] = "ON"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "share", "doc"))

    def package_info(self):
        # find_package(kgen) finds the package's own files, which have kgen_add_api().
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "kgen")]
