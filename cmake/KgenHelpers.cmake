# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# The functions that the CMakeLists.txt of the folders use.
#
#   kgen_add_part(DIR)                       add_subdirectory when DIR/CMakeLists.txt exists
#   kgen_add_layer(NAME [SOURCES f...] [ALONE f...] [LINKS t...] [PRIVATE_LINKS t...])
#                                            one layer of the runtime: kgen_NAME, alias kgen::NAME; sources: *.cc here
#                                            and in its rooms (the folders here without a CMakeLists.txt); ALONE as of
#                                            kgen_join
#   kgen_add_test(NAME [FOLDER d] [ROOMS d...] [SOURCES f...] [ALONE f...] [LINKS t...] [DEFINES d...] [SHARDS n]
#                 [TIMEOUT s] [NO_CTEST] [ONE_THREAD])
#                                            one gtest binary; sources: *_test.cc of FOLDER (default: here) and of its
#                                            folders ROOMS; ALONE as of kgen_join. ONE_THREAD: its tests start no thread,
#                                            so the tree of ThreadSanitizer leaves it out
#   kgen_install_library(TARGET)             installed and exported with the package
#   KGEN_HAVE_TOOL                           (variable) whether kgen_add_api can be used in this build
#   kgen_add_fuzzer(NAME SOURCES f... [LINKS t...])
#                                            one libFuzzer binary, fuzz_NAME; nothing unless KGEN_BUILD_FUZZERS
include_guard(GLOBAL)

function(kgen_add_part dir)
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt")
    add_subdirectory(${dir})
  endif()
endfunction()

# Flags for the whole project. A fast linker first, because tests are linked often.
if(PROJECT_IS_TOP_LEVEL)
  find_program(KGEN_MOLD mold)
  find_program(KGEN_LLD NAMES ld.lld-22 ld.lld)
  if(KGEN_MOLD)
    add_link_options(-fuse-ld=mold)
  elseif(KGEN_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_link_options(-fuse-ld=${KGEN_LLD})
  endif()
  add_link_options(-Wl,--gc-sections)
endif()

set(kgen_sanitizer_flags "")
if(KGEN_SANITIZE STREQUAL "address")
  set(kgen_sanitizer_flags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(KGEN_SANITIZE STREQUAL "thread")
  set(kgen_sanitizer_flags -fsanitize=thread -fno-omit-frame-pointer)
elseif(KGEN_SANITIZE)
  message(FATAL_ERROR "KGEN_SANITIZE is '${KGEN_SANITIZE}'; it may be address, thread or empty")
endif()
if(kgen_sanitizer_flags)
  add_compile_options(${kgen_sanitizer_flags})
  # For what sanitizers do not see, such as the error() of a Result that has a value.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(${kgen_sanitizer_flags})
endif()
if(KGEN_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "KGEN_BUILD_FUZZERS needs Clang: libFuzzer is part of it")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Settings of every library of the project: warnings, and sections that the linker can drop.
function(kgen_set_defaults target)
  kgen_set_warnings(${target})
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
endfunction()

# Sets OUT to the files of FOLDER and of its rooms that match PATTERN. A room is a folder in it without a CMakeLists.txt.
function(kgen_glob_rooms out folder pattern)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/${pattern}" "${folder}/*/${pattern}")
  foreach(file IN LISTS files)
    get_filename_component(room "${file}" DIRECTORY)
    if(NOT room STREQUAL folder AND EXISTS "${room}/CMakeLists.txt")
      list(REMOVE_ITEM files "${file}")
    endif()
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

function(kgen_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;ALONE;LINKS;PRIVATE_LINKS")
  kgen_glob_rooms(sources "${CMAKE_CURRENT_SOURCE_DIR}" "*.cc")
  list(APPEND sources ${arg_SOURCES})
  list(REMOVE_DUPLICATES sources)
  set(target kgen_${name})
  if(sources)
    set(public PUBLIC)
    set(hot "")
    if(name MATCHES "^(core|json|codec|cache)$")
      set(hot HOT)  # what runs for each object of a list or watch
    endif()
    kgen_join(sources ${target} ${hot} ALONE ${arg_ALONE} SOURCES ${sources})
    add_library(${target} STATIC ${sources})
    kgen_set_defaults(${target})
    if(KGEN_SANITIZE STREQUAL "address" AND NOT name MATCHES "^(core|codec|cache)$")
      # These layers need not be fast, and compile in a third less time without optimization. Fuzz targets link core and
      # codec, and the tests of the cache store and compare millions of objects.
      target_compile_options(${target} PRIVATE -O0)
    endif()
    target_include_directories(${target} PRIVATE "${kgen_SOURCE_DIR}/runtime/src"
                                                 $<$<BOOL:${KGEN_JOIN_SOURCES}>:${kgen_SOURCE_DIR}>)
    kgen_compile_for_shared(${name})
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE_LINKS})
  else()
    set(public INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(kgen::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${public} cxx_std_23)
  target_include_directories(
    ${target} ${public} "$<BUILD_INTERFACE:${kgen_SOURCE_DIR}/runtime/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(${target} ${public} ${arg_LINKS})
  kgen_install_library(${target})
endfunction()

# Adds a library to those that cmake --install installs. Its EXPORT_NAME becomes kgen::<name>.
function(kgen_install_library target)
  set_property(GLOBAL APPEND PROPERTY KGEN_INSTALLED_LIBRARIES ${target})
endfunction()

# Test code is compiled far more often than it runs, so it is not optimized. The libraries that it links keep the
# optimization of the build.
function(kgen_set_test_options target)
  kgen_set_defaults(${target})
  if(kgen_IS_TOP_LEVEL)  # examples/ has a project of its own
    target_compile_options(${target} PRIVATE -O0)
    if("$ENV{CI}" STREQUAL "true")
      target_compile_options(${target} PRIVATE -g0)  # nobody debugs there, and a test compiles in a seventh less time
    endif()
    if(KGEN_SANITIZE STREQUAL "address")
      # These are half of a test's code. The library keeps them.
      target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment,vptr,object-size)
    endif()
    if(KGEN_BUILD_FUZZERS)
      target_compile_options(${target} PRIVATE -fno-sanitize=fuzzer-no-link)  # fuzz targets need no coverage of test code
    endif()
  endif()
endfunction()

# Lets the given sources of a test use the precompiled GoogleTest, where this build has one (tests/support).
function(kgen_use_precompiled_gtest)
  get_property(header GLOBAL PROPERTY KGEN_PRECOMPILED_GTEST)
  if(header)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -include-pch "${header}")
    set_property(SOURCE ${ARGN} APPEND PROPERTY OBJECT_DEPENDS "${header}")
  endif()
endfunction()

function(kgen_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_CTEST;ONE_THREAD" "FOLDER;SHARDS;TIMEOUT" "ROOMS;SOURCES;ALONE;LINKS;DEFINES")
  if(NOT KGEN_BUILD_TESTS OR (arg_ONE_THREAD AND KGEN_SANITIZE STREQUAL "thread"))
    return()
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  list(TRANSFORM arg_ROOMS REPLACE "(.+)" "${arg_FOLDER}/\\1/*_test.cc")
  file(GLOB sources CONFIGURE_DEPENDS "${arg_FOLDER}/*_test.cc" ${arg_ROOMS})
  list(APPEND sources ${arg_SOURCES})
  list(REMOVE_DUPLICATES sources)
  if(NOT sources)
    return()
  endif()
  kgen_join(sources ${name} ALONE ${arg_ALONE} SOURCES ${sources})
  add_executable(${name} ${sources})
  # Tests may include private headers, so they need runtime/src.
  target_include_directories(${name} PRIVATE "${kgen_SOURCE_DIR}" "${kgen_SOURCE_DIR}/runtime/src")
  target_compile_definitions(${name} PRIVATE ${arg_DEFINES})
  kgen_set_test_options(${name})
  kgen_use_precompiled_gtest(${sources})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} kgen_test_support GTest::gmock GTest::gtest_main)
  if(arg_NO_CTEST)
    return()
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(test ${name})
    if(arg_SHARDS GREATER 1)
      set(test ${name}.${shard})
    endif()
    add_test(NAME ${test} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    # ./dev counts the cases from these files.
    set_tests_properties(
      ${test} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS gtest ENVIRONMENT
      "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/test-results/${test}.xml;GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

function(kgen_add_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  if(NOT KGEN_BUILD_FUZZERS)
    return()
  endif()
  set(target fuzz_${name})
  add_executable(${target} ${arg_SOURCES})
  kgen_set_defaults(${target})
  target_include_directories(${target} PRIVATE "${kgen_SOURCE_DIR}" "${kgen_SOURCE_DIR}/runtime/src")
  target_link_libraries(${target} PRIVATE ${arg_LINKS})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
endfunction()
