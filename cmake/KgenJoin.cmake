# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Joined sources: a source that includes several others, so that the compiler reads the headers and instantiates the
# templates that they share once. A full build takes about half of the time.
#
#   kgen_join(OUT NAME [HOT] [ALONE f...] SOURCES f...)
#
# Sets OUT to what target NAME compiles for the given sources: with KGEN_JOIN_SOURCES one file for several sources,
# otherwise the sources themselves. Sources with compile definitions of their own, and those after ALONE, are not joined.
# Names in anonymous namespaces must differ between the sources of a target. HOT: smaller files, of one folder each,
# because GCC inlines less in a large one (docs/decisions/0035-larger-joined-sources.md).
#
# CMake's unity builds include sources by absolute paths, which ccache does not find in another checkout; these do so
# relative to the root of the project, which must be an include directory of the target.
include_guard(GLOBAL)

# So many bytes of source in one file: two fifths of the time of a file with a quarter of them go to its headers.
set(kgen_join_bytes 160000)
set(kgen_join_hot_bytes 45000)

function(kgen_join out name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "HOT" "" "ALONE;SOURCES")
  if(NOT KGEN_JOIN_SOURCES)
    set(${out} ${arg_SOURCES} PARENT_SCOPE)
    return()
  endif()
  set(most ${kgen_join_bytes})
  if(arg_HOT)
    set(most ${kgen_join_hot_bytes})
  endif()
  set(result "")
  set(text "")
  set(room "")
  set(bytes 0)
  set(number 0)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
    get_filename_component(file "${source}" NAME)
    file(RELATIVE_PATH path "${kgen_SOURCE_DIR}" "${source}")
    string(FIND "${source}" "${kgen_BINARY_DIR}/" generated)
    if(definitions OR file IN_LIST arg_ALONE OR generated EQUAL 0)
      list(APPEND result "${source}")
      continue()
    endif()
    get_filename_component(folder "${source}" DIRECTORY)
    file(SIZE "${source}" size)
    math(EXPR sum "${bytes} + ${size}")
    if(text AND (sum GREATER most OR (arg_HOT AND NOT folder STREQUAL room)))
      kgen_write_joined(result "${name}" ${number} "${text}")
      math(EXPR number "${number} + 1")
      set(text "")
      set(sum ${size})
    endif()
    set(room "${folder}")
    set(bytes ${sum})
    string(APPEND text "#include \"${path}\"\n")
  endforeach()
  if(text)
    kgen_write_joined(result "${name}" ${number} "${text}")
  endif()
  set(${out} ${result} PARENT_SCOPE)
endfunction()

macro(kgen_write_joined list name number text)
  # Not in the folder of the target: this way ccache finds it in a build that has the project as a subdirectory.
  set(joined "${CMAKE_BINARY_DIR}/joined/${name}_${number}.cc")
  file(CONFIGURE OUTPUT "${joined}" CONTENT "${text}" @ONLY)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A type of an anonymous namespace in an included file looks like one in a header.
    set_property(SOURCE "${joined}" PROPERTY COMPILE_OPTIONS -Wno-subobject-linkage)
  endif()
  list(APPEND ${list} "${joined}")
endmacro()
