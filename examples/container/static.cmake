# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Links every program of a build statically, for an image that contains nothing else:
#
#   cmake -DCMAKE_PROJECT_INCLUDE=/path/to/static.cmake ...
#
# CMake includes it right after project(), before the project looks for its libraries.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS TRUE)
# Debian's GCC compiles position-independent code by itself; elsewhere set CMAKE_POSITION_INDEPENDENT_CODE.
add_link_options(-static-pie)
