# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# The warnings of every target of the project, without the known false positives of GCC 12. Warnings are turned off only
# here, not by pragmas or by flags in other files.
include_guard(GLOBAL)

function(kgen_set_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(KGEN_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -Wthread-safety)  # the annotations of core/memory/mutex.h
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12's optimizer gives these falsely for code inlined from libstdc++ 12 (std::string, std::variant,
    # std::vector). Clang checks the same code with its own analysis, and the sanitizers run it.
    target_compile_options(
      ${target} PRIVATE -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
                        -Wno-stringop-overread -Wno-dangling-pointer -Wno-use-after-free)
  endif()
endfunction()
