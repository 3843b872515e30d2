# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# The dependencies of the runtime. All of them are Debian 12 packages, which `./dev setup` installs.
# kgenConfig.cmake looks for the same things under the same names.
include_guard(GLOBAL)

find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Boost 1.81 REQUIRED CONFIG COMPONENTS headers)
find_package(PkgConfig REQUIRED)
pkg_check_modules(kgen_yaml REQUIRED IMPORTED_TARGET GLOBAL yaml-0.1)
pkg_check_modules(kgen_nghttp2 REQUIRED IMPORTED_TARGET GLOBAL libnghttp2)
pkg_check_modules(kgen_re2 REQUIRED IMPORTED_TARGET GLOBAL re2)
if(KGEN_BUILD_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
