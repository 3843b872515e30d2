# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# The shared libraries, which KGEN_BUILD_SHARED adds to the static ones, made of the same objects:
#
#   libkgen.so             the runtime
#   libkgen_validation.so  kgen::validation, so that only a program that validates loads RE2
#   libkgen_k8s.so         the built-in API
#
# kgen::testing is static in both kinds. Each 0.x has a soname of its own (libkgen.so.0.2).
#
# A shared library exports what its public headers declare, and hides everything else. The headers have no macros for
# that: all sources are compiled with hidden visibility, and each one includes a file first that includes the public
# headers with default visibility. kgen::validation and kgen::testing use some private headers of other layers, so these
# are treated alike. The version script then hides what the headers bring from other libraries.
include_guard(GLOBAL)

option(KGEN_BUILD_SHARED "Build shared libraries too" OFF)

# The headers whose names each library defines or uses, public ones with kgen/.
set(kgen_exports_json "core/json/")
set(kgen_exports_yaml "(core/json/|(kgen/)?codec/yaml[./])")
set(kgen_exports_core "(kgen/)?core/")
set(kgen_exports_codec "(kgen/)?(core|codec)/")
set(kgen_exports_validation "(kgen/)?(core|codec|validation)/")
set(kgen_exports_net "(kgen/)?(core|codec|net)/")
set(kgen_exports_client "(kgen/)?(core|codec|net|client)/")
set(kgen_exports_cache "(kgen/)?(core|codec|net|client|cache)/")
set(kgen_exports_controller "(kgen/)?(core|codec|net|client|cache|controller)/")
set(kgen_exports_testing "(kgen/)?(core|codec|validation|net|client|cache|controller)/")

# Sets OUT to the private headers of other layers that the sources of validation and testing include.
function(kgen_shared_private_headers out)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${kgen_SOURCE_DIR}/runtime/src/validation/*"
       "${kgen_SOURCE_DIR}/runtime/src/testing/*")
  set(headers "")
  foreach(source IN LISTS sources)
    file(STRINGS "${source}" lines REGEX "^#include \"(core|codec|validation|net|client|cache|controller)/")
    list(TRANSFORM lines REPLACE "^#include \"([^\"]+)\".*" "\\1")
    list(APPEND headers ${lines})
  endforeach()
  list(REMOVE_DUPLICATES headers)
  list(SORT headers)
  set(${out} "${headers}" PARENT_SCOPE)
endfunction()

# Compiles the sources of kgen_NAME for a shared library too.
function(kgen_compile_for_shared name)
  if(NOT KGEN_BUILD_SHARED)
    return()
  endif()
  file(GLOB headers RELATIVE "${kgen_SOURCE_DIR}/runtime/include" CONFIGURE_DEPENDS
       "${kgen_SOURCE_DIR}/runtime/include/kgen/*/*.h")
  kgen_shared_private_headers(private)
  list(APPEND headers ${private})
  list(FILTER headers INCLUDE REGEX "^${kgen_exports_${name}}")
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"\n")
  string(JOIN "" includes ${headers})
  set(exported "${CMAKE_BINARY_DIR}/exported/${name}.h")
  file(
    CONFIGURE
    OUTPUT "${exported}"
    CONTENT
      "// Made by cmake/KgenShared.cmake.\n#if __has_include(<nlohmann/json_fwd.hpp>)\n#include <nlohmann/json_fwd.hpp>\n\
#endif\n#pragma GCC visibility push(default)\n${includes}#pragma GCC visibility pop\n"
    @ONLY)
  set_target_properties(kgen_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
  # Precompiled, because every source of the library includes all of them.
  target_precompile_headers(kgen_${name} PRIVATE "${exported}")
  target_compile_options(kgen_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
endfunction()

# kgen_add_shared(NAME PARTS target... [LINKS t...] [PRIVATE_LINKS t...]): libNAME.so of the objects of kgen_<part>;
# installed as kgen::shared_NAME.
function(kgen_add_shared name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PARTS;LINKS;PRIVATE_LINKS")
  set(target kgen_shared_${name})
  list(TRANSFORM arg_PARTS REPLACE "(.+)" "$<TARGET_OBJECTS:kgen_\\1>")
  add_library(${target} SHARED ${arg_PARTS})
  set_target_properties(
    ${target} PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME shared_${name} LINKER_LANGUAGE CXX VERSION ${kgen_VERSION}
                         SOVERSION ${kgen_VERSION_MAJOR}.${kgen_VERSION_MINOR}
                         LINK_DEPENDS "${kgen_version_script}")
  target_compile_features(${target} INTERFACE cxx_std_23)
  target_include_directories(${target} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_options(${target} PRIVATE "-Wl,--version-script=${kgen_version_script}" -Wl,--no-undefined
                      -Wl,--as-needed)
  target_link_libraries(${target} PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
  set_property(GLOBAL APPEND PROPERTY KGEN_SHARED_LIBRARIES ${target})
endfunction()

function(kgen_add_shared_libraries)
  if(NOT KGEN_BUILD_SHARED)
    return()
  endif()
  set(kgen_version_script "${CMAKE_CURRENT_BINARY_DIR}/kgen.map")
  configure_file(cmake/kgen.map.in "${kgen_version_script}" @ONLY)
  set(parts core json codec yaml net client cache controller)
  kgen_add_shared(
    kgen PARTS ${parts} LINKS nlohmann_json::nlohmann_json Threads::Threads
    PRIVATE_LINKS OpenSSL::SSL OpenSSL::Crypto PkgConfig::kgen_nghttp2 PkgConfig::kgen_yaml)
  kgen_add_shared(kgen_validation PARTS validation LINKS kgen_shared_kgen PRIVATE_LINKS PkgConfig::kgen_re2)
  if(TARGET kgen_k8s_core)
    kgen_add_shared(kgen_k8s PARTS k8s_core k8s_groups LINKS kgen_shared_kgen)
  endif()
endfunction()
