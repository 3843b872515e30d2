# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# kgen_add_api(TARGET NAMESPACE ns [CRDS file...] [OPENAPI file...] [SHARDS n] [GROUP_NAMES full|group=name...]
#              [DISTINCT path...] [USES target...] [TYPES path=type...])
#
# Makes the static library TARGET from CustomResourceDefinitions and API documents (YAML or JSON, relative to the
# current source folder): C++ types, clients, listers and informers in namespace ns. Targets that link TARGET can
# include "ns/...". Each namespace belongs to one API of a build, and k8s to the built-in one. At build time, the
# generator runs if one of its inputs has changed. Unchanged files keep their time stamps, so only code that uses
# changed files is recompiled.
#
#   kgen_add_api(shop_api CRDS crds/orders.yaml NAMESPACE acme)
#   add_executable(order_controller main.cc)
#   target_link_libraries(order_controller PRIVATE shop_api kgen::kubernetes)
#
# The generated code is in ${CMAKE_CURRENT_BINARY_DIR}/TARGET.kgen/. SHARDS spreads the code over n source files, for
# large APIs. GROUP_NAMES chooses the C++ names of API groups: `full` takes all labels of every group instead of the
# first, and pairs such as gateway.envoyproxy.io=envoy_gateway name single groups. Objects of one group that have the
# same fields are one C++ type; DISTINCT keeps the object at a path apart, as in
# `DISTINCT orders.shop.example.com:spec.template`.
# USES names targets of generated APIs: kgen::kubernetes, single groups of it such as kgen::k8s_core, or targets that
# kgen_add_api made. Their types are used instead of generated again, also where an object in a CRD stands for one of
# them (docs/built-in-types.md), and TARGET links them. TYPES decides for single objects:
# `TYPES orders.shop.example.com:spec.template=k8s::core::v1::PodTemplateSpec`, or `=own`.
#
# kgen_add_api(TARGET NAMESPACE ns HEADERS file... [GROUP_NAMES full|group=name...] [USES target...]
#              [EMBEDDED_METADATA] [MAX_DESCRIPTION n] [CONVERSION namespace/service])
#
# Generates the code of an API that is written in C++ (docs/cpp-first.md): the structs with KGEN_OBJECT in the headers
# are the types. Their CRDs are written to ${CMAKE_CURRENT_BINARY_DIR}/TARGET.kgen/crds/, which is also the property
# KGEN_CRD_DIR of TARGET: install(DIRECTORY "$<TARGET_PROPERTY:TARGET,KGEN_CRD_DIR>/" DESTINATION ...) installs them.
# Code includes the headers relative to the current source folder. Members may be of types of the APIs in USES. With
# EMBEDDED_METADATA, the metadata of a pod template keeps labels, annotations, finalizers, name and namespace.
# MAX_DESCRIPTION cuts descriptions to n bytes; 0 leaves them out; by default, descriptions of types of other APIs are
# cut to 150. CONVERSION names the Service that converts the kinds with the marker +kgen:hub. Needs kgen-crd, the target
# kgen::kgen_crd, or KGEN_CRD_EXECUTABLE with its path.
#
# kgen_add_projections(TARGET NAMESPACE ns FILES file... USES target...)
#
# Makes the static library TARGET with the types that the files describe (docs/projections.md): parts of kinds of the
# APIs in USES. Targets that link TARGET can include "ns/projections.h".
#
#   kgen_add_projections(pod_parts NAMESPACE agent FILES projections.yaml USES kgen::k8s_core)
#
# The tool is the target kgen::kgen. If it is neither built nor found, set KGEN_EXECUTABLE to its path (a cross build,
# for example, needs a tool that runs on the building machine).
#
# Included by the project itself and by kgenConfig.cmake.
include_guard(GLOBAL)

function(kgen_add_api target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EMBEDDED_METADATA" "NAMESPACE;SHARDS;MAX_DESCRIPTION;CONVERSION" "CRDS;OPENAPI;HEADERS;GROUP_NAMES;DISTINCT;USES;TYPES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kgen_add_api(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_NAMESPACE MATCHES "^[a-z_][a-z0-9_]*(::[a-z_][a-z0-9_]*)*$")
    message(FATAL_ERROR "kgen_add_api(${target}): NAMESPACE wants a C++ namespace in lower case, got '${arg_NAMESPACE}'")
  endif()
  if(arg_NAMESPACE MATCHES "^k8s(::|$)")
    message(
      FATAL_ERROR
        "kgen_add_api(${target}): the namespace k8s is that of the built-in API, kgen::kubernetes; choose another NAMESPACE")
  endif()
  get_property(owner GLOBAL PROPERTY "KGEN_API_OF_${arg_NAMESPACE}")
  if(owner)
    message(
      FATAL_ERROR
        "kgen_add_api(${target}): the namespace '${arg_NAMESPACE}' is already that of ${owner}; a program with both "
        "would define the same types twice. Choose another NAMESPACE, or make one API of both inputs")
  endif()
  set_property(GLOBAL PROPERTY "KGEN_API_OF_${arg_NAMESPACE}" "${target}, made in ${CMAKE_CURRENT_SOURCE_DIR}")
  if(arg_HEADERS)
    if(arg_CRDS OR arg_OPENAPI OR arg_SHARDS OR arg_DISTINCT OR arg_TYPES)
      message(
        FATAL_ERROR "kgen_add_api(${target}): with HEADERS there are only NAMESPACE, GROUP_NAMES, USES, "
                    "EMBEDDED_METADATA, MAX_DESCRIPTION and CONVERSION")
    endif()
    set(options "")
    if(arg_EMBEDDED_METADATA)
      list(APPEND options --embedded-metadata)
    endif()
    if(DEFINED arg_MAX_DESCRIPTION)
      list(APPEND options --max-description "${arg_MAX_DESCRIPTION}")
    endif()
    if(DEFINED arg_CONVERSION)
      list(APPEND options --conversion "${arg_CONVERSION}")
    endif()
    kgen_add_header_api(${target} "${arg_NAMESPACE}" "${arg_HEADERS}" "${arg_GROUP_NAMES}" "${arg_USES}" "${options}")
    return()
  endif()
  if(arg_EMBEDDED_METADATA OR DEFINED arg_MAX_DESCRIPTION OR DEFINED arg_CONVERSION)
    message(
      FATAL_ERROR
        "kgen_add_api(${target}): EMBEDDED_METADATA, MAX_DESCRIPTION and CONVERSION are for an API of HEADERS")
  endif()
  if(NOT arg_CRDS AND NOT arg_OPENAPI)
    message(FATAL_ERROR "kgen_add_api(${target}): name at least one file after CRDS, OPENAPI or HEADERS")
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  kgen_have_tool(found)
  if(NOT found)
    message(FATAL_ERROR "the generator, kgen, is neither built here (KGEN_BUILD_TOOL) nor found; set KGEN_EXECUTABLE")
  endif()

  set(inputs "")
  foreach(file IN LISTS arg_CRDS arg_OPENAPI)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    get_source_file_property(generated "${file}" GENERATED)
    if(NOT EXISTS "${file}" AND NOT generated)
      message(FATAL_ERROR "kgen_add_api(${target}): no such file: ${file}")
    endif()
    list(APPEND inputs "${file}")
  endforeach()

  # The headers of acme::shop are in acme/shop/, its code in acme/shop/shop.cc, its CRDs in acme/shop/shop_manifests.cc,
  # which a program links only if it calls Manifests(). The names do not depend on the inputs, because CMake must know
  # them before the tool has run, and the tool may not be built yet.
  string(REPLACE "::" "/" folder "${arg_NAMESPACE}")
  cmake_path(GET folder FILENAME stem)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/${target}.kgen/include")
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${target}.kgen/stamp")
  set(depfile "${CMAKE_CURRENT_BINARY_DIR}/${target}.kgen/depfile.d")
  set(sources "${out}/${folder}/${stem}.cc" "${out}/${folder}/${stem}_manifests.cc")
  set(shards "")
  if(arg_SHARDS GREATER 1)
    set(shards --shards ${arg_SHARDS})
    math(EXPR last "${arg_SHARDS} - 1")
    foreach(shard RANGE 1 ${last})
      list(APPEND sources "${out}/${folder}/${stem}_${shard}.cc")
    endforeach()
  endif()
  set(group_names "")
  foreach(name IN LISTS arg_GROUP_NAMES)
    list(APPEND group_names --group-names "${name}")
  endforeach()
  set(distinct "")
  foreach(path IN LISTS arg_DISTINCT)
    list(APPEND distinct --distinct "${path}")
  endforeach()
  kgen_read_uses("kgen_add_api(${target})" use use_group_names ${arg_USES})
  set(uses "")
  set(use_files "")
  foreach(value IN LISTS use)
    if(NOT value MATCHES "=")
      message(
        FATAL_ERROR "kgen_add_api(${target}): USES names an API of headers, '${value}', whose types only another API of "
                    "HEADERS can use")
    endif()
    list(APPEND uses --use "${value}")
    string(REGEX REPLACE "^[^=]*=" "" file "${value}")
    if(NOT IS_DIRECTORY "${file}")
      list(APPEND use_files "${file}")
    endif()
  endforeach()
  foreach(value IN LISTS use_group_names)
    list(APPEND uses --use-group-names "${value}")
  endforeach()
  foreach(type IN LISTS arg_TYPES)
    list(APPEND uses --type "${type}")
  endforeach()
  file(MAKE_DIRECTORY "${out}")

  # The stamp is the output and the code a byproduct. With the code as output, Makefiles would run the tool in every
  # build after an input was touched, because unchanged code keeps its old time stamp.
  # Ninja must know only two headers. The headers of CRDs include manifest_fingerprint.h, all others fingerprint.h. Each
  # of the two changes when a header that includes it does, so code that uses such headers is recompiled in the same run,
  # not in the next one.
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${sources} "${out}/${folder}/fingerprint.h" "${out}/${folder}/manifest_fingerprint.h"
    COMMAND kgen::kgen generate --out "${out}" --namespace "${arg_NAMESPACE}" ${shards} ${group_names} ${distinct}
            ${uses} --depfile "${depfile}" --depfile-target "${stamp}" ${inputs}
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS kgen::kgen ${inputs} ${use_files}
    DEPFILE "${depfile}"
    COMMENT "Generating ${arg_NAMESPACE} for ${target}"
    VERBATIM COMMAND_EXPAND_LISTS)

  add_library(${target} STATIC ${sources} "${stamp}")
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${out}>")
  target_link_libraries(${target} PUBLIC kgen::runtime ${arg_USES})
  list(TRANSFORM inputs PREPEND "${arg_NAMESPACE}=" OUTPUT_VARIABLE own_use)
  list(TRANSFORM arg_GROUP_NAMES PREPEND "${arg_NAMESPACE}=" OUTPUT_VARIABLE own_group_names)
  set_property(TARGET ${target} APPEND PROPERTY KGEN_USE ${use} ${own_use})
  set_property(TARGET ${target} APPEND PROPERTY KGEN_USE_GROUP_NAMES ${use_group_names} ${own_group_names})
  set_property(TARGET ${target} PROPERTY KGEN_GENERATED TRUE)
  if(COMMAND kgen_set_defaults)
    kgen_set_defaults(${target})
  endif()
endfunction()

function(kgen_add_projections target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE" "FILES;USES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kgen_add_projections(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_NAMESPACE MATCHES "^[a-z_][a-z0-9_]*(::[a-z_][a-z0-9_]*)*$")
    message(
      FATAL_ERROR "kgen_add_projections(${target}): NAMESPACE wants a C++ namespace in lower case, got '${arg_NAMESPACE}'")
  endif()
  if(NOT arg_FILES OR NOT arg_USES)
    message(
      FATAL_ERROR "kgen_add_projections(${target}): name at least one file after FILES, and after USES the APIs that have "
                  "the kinds, such as kgen::k8s_core")
  endif()
  get_property(owner GLOBAL PROPERTY "KGEN_PROJECTIONS_OF_${arg_NAMESPACE}")
  if(owner)
    message(
      FATAL_ERROR
        "kgen_add_projections(${target}): the namespace '${arg_NAMESPACE}' already has the projections of ${owner}; choose "
        "another NAMESPACE, or name all files in one call")
  endif()
  set_property(GLOBAL PROPERTY "KGEN_PROJECTIONS_OF_${arg_NAMESPACE}" "${target}, made in ${CMAKE_CURRENT_SOURCE_DIR}")
  kgen_have_tool(found)
  if(NOT found)
    message(FATAL_ERROR "the generator, kgen, is neither built here (KGEN_BUILD_TOOL) nor found; set KGEN_EXECUTABLE")
  endif()
  set(inputs "")
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "kgen_add_projections(${target}): no such file: ${file}")
    endif()
    list(APPEND inputs "${file}")
  endforeach()
  kgen_read_uses("kgen_add_projections(${target})" use use_group_names ${arg_USES})
  set(uses "")
  foreach(value IN LISTS use)
    if(NOT value MATCHES "=")
      message(
        FATAL_ERROR "kgen_add_projections(${target}): USES names an API of headers, '${value}'; there are projections of "
                    "APIs of documents and CRDs only")
    endif()
    list(APPEND uses --use "${value}")
  endforeach()
  foreach(value IN LISTS use_group_names)
    list(APPEND uses --use-group-names "${value}")
  endforeach()
  string(REPLACE "::" "/" folder "${arg_NAMESPACE}")
  set(base "${CMAKE_CURRENT_BINARY_DIR}/${target}.kgen")
  set(out "${base}/include")
  file(MAKE_DIRECTORY "${out}")
  # As for an API, the stamp is the output. There is one header, which Ninja knows.
  add_custom_command(
    OUTPUT "${base}/stamp"
    BYPRODUCTS "${out}/${folder}/projections.cc" "${out}/${folder}/projections.h"
    COMMAND kgen::kgen project --out "${out}" --namespace "${arg_NAMESPACE}" ${uses} --depfile "${base}/depfile.d"
            --depfile-target "${base}/stamp" ${inputs}
    COMMAND "${CMAKE_COMMAND}" -E touch "${base}/stamp"
    DEPENDS kgen::kgen ${inputs}
    DEPFILE "${base}/depfile.d"
    COMMENT "Generating projections of ${arg_NAMESPACE} for ${target}"
    VERBATIM COMMAND_EXPAND_LISTS)
  add_library(${target} STATIC "${out}/${folder}/projections.cc" "${base}/stamp")
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${out}>")
  target_link_libraries(${target} PUBLIC kgen::runtime ${arg_USES})
  if(COMMAND kgen_set_defaults)
    kgen_set_defaults(${target})
  endif()
endfunction()

# kgen_add_api(HEADERS), with the checked arguments.
function(kgen_add_header_api target name_space header_list names uses options)
  kgen_have_crd_tool(found)
  if(NOT found)
    message(
      FATAL_ERROR "kgen_add_api(${target}): HEADERS needs kgen-crd, which is neither built here (KGEN_BUILD_CRD) nor "
                  "found; set KGEN_CRD_EXECUTABLE")
  endif()
  set(headers "")
  foreach(file IN LISTS header_list)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "kgen_add_api(${target}): no such file: ${file}")
    endif()
    list(APPEND headers "${file}")
  endforeach()
  string(REPLACE "::" "/" folder "${name_space}")
  cmake_path(GET folder FILENAME stem)
  set(base "${CMAKE_CURRENT_BINARY_DIR}/${target}.kgen")
  set(out "${base}/include")
  set(sources "${out}/${folder}/${stem}.cc" "${out}/${folder}/${stem}_manifests.cc")
  foreach(name IN LISTS names)
    list(APPEND options --group-names "${name}")
  endforeach()
  kgen_read_uses("kgen_add_api(${target})" use use_group_names ${uses})
  foreach(value IN LISTS use)
    list(APPEND options --use "${value}")
  endforeach()
  foreach(value IN LISTS use_group_names)
    list(APPEND options --use-group-names "${value}")
  endforeach()
  # The headers include generated headers of these.
  set(generated_before "")
  foreach(used IN LISTS uses)
    get_target_property(made_here ${used} KGEN_GENERATED)
    if(made_here)
      get_target_property(real ${used} ALIASED_TARGET)
      if(real)
        list(APPEND generated_before ${real})
      else()
        list(APPEND generated_before ${used})
      endif()
    endif()
  endforeach()
  file(MAKE_DIRECTORY "${out}")

  # As for documents: the stamp is the output, and the fingerprints are the headers that Ninja knows.
  add_custom_command(
    OUTPUT "${base}/stamp"
    BYPRODUCTS ${sources} "${out}/${folder}/fingerprint.h" "${out}/${folder}/manifest_fingerprint.h"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${base}/crds" # of kinds that are no longer there
    COMMAND kgen::kgen_crd --out "${out}" --crds "${base}/crds" --namespace "${name_space}" --root
            "${CMAKE_CURRENT_SOURCE_DIR}" --flags "${base}/flags.CXX" ${options} --depfile "${base}/depfile.d"
            --depfile-target "${base}/stamp" ${headers}
    COMMAND "${CMAKE_COMMAND}" -E touch "${base}/stamp"
    DEPENDS kgen::kgen_crd ${headers} "${base}/flags.CXX" ${generated_before}
    DEPFILE "${base}/depfile.d"
    COMMENT "Generating ${name_space} for ${target}"
    VERBATIM)
  add_library(${target} STATIC ${sources} "${base}/stamp")
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${out}>" "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>")
  target_link_libraries(${target} PUBLIC kgen::runtime ${uses})
  # Clang parses the headers with the flags of the target. CMake writes one file for each language of the project, since
  # the flags may depend on it.
  set(folders "$<FILTER:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,INCLUDE,.>")
  set(definitions "$<FILTER:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>,INCLUDE,.>")
  set(others "$<FILTER:$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>,INCLUDE,^-(D|U|I|isystem|std=).>")
  set(newer "$<STREQUAL:$<TARGET_PROPERTY:${target},CXX_STANDARD>,26>")
  set(sysroot "")
  if(CMAKE_SYSROOT)
    set(sysroot "--sysroot=${CMAKE_SYSROOT}\n")
  endif()
  file(
    GENERATE
    OUTPUT "${base}/flags.$<COMPILE_LANGUAGE>"
    CONTENT
      "${sysroot}$<$<BOOL:${folders}>:-I$<JOIN:${folders},\n-I>>\n$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},\n-D>>\n$<${newer}:-std=c++26>\n$<JOIN:${others},\n>\n"
    TARGET ${target})
  list(TRANSFORM names PREPEND "${name_space}=" OUTPUT_VARIABLE own_group_names)
  set_property(TARGET ${target} PROPERTY KGEN_USE ${use} "${name_space}")
  set_property(TARGET ${target} PROPERTY KGEN_USE_GROUP_NAMES ${use_group_names} ${own_group_names})
  set_property(TARGET ${target} PROPERTY KGEN_GENERATED TRUE)
  set_property(TARGET ${target} PROPERTY KGEN_CRD_DIR "${base}/crds")
  if(COMMAND kgen_set_defaults)
    kgen_set_defaults(${target})
  endif()
endfunction()

# Sets USE and GROUP_NAMES to the values of --use and --use-group-names for the targets in ARGN. Errors begin with DOING. These are the properties
# KGEN_USE, the namespace with each input as in "acme=/src/crds/orders.yaml", and KGEN_USE_GROUP_NAMES, the same for
# GROUP_NAMES. The values of what a target uses come before its own.
function(kgen_read_uses doing use group_names)
  get_property(documents GLOBAL PROPERTY KGEN_OPENAPI_DIR)
  set(all_use "")
  set(all_names "")
  foreach(used IN LISTS ARGN)
    if(NOT TARGET ${used})
      message(
        FATAL_ERROR
          "${doing}: USES names ${used}, which is not a target; name one that exists already, such as "
          "kgen::kubernetes or the target of an earlier kgen_add_api")
    endif()
    get_target_property(its_use ${used} KGEN_USE)
    if(NOT its_use)
      message(
        FATAL_ERROR
          "${doing}: USES names ${used}, which is not a generated API; name kgen::kubernetes, a group of it "
          "such as kgen::k8s_core, or a target that kgen_add_api made")
    endif()
    # The libraries of the built-in API, which may be installed anywhere, name their documents relative to one folder.
    list(TRANSFORM its_use REPLACE "^k8s=([^/]+)$" "k8s=${documents}/\\1")
    list(APPEND all_use ${its_use})
    get_target_property(its_names ${used} KGEN_USE_GROUP_NAMES)
    if(its_names)
      list(APPEND all_names ${its_names})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES all_use)
  list(REMOVE_DUPLICATES all_names)
  set(${use} "${all_use}" PARENT_SCOPE)
  set(${group_names} "${all_names}" PARENT_SCOPE)
endfunction()

# Sets RESULT to whether there is a generator for kgen_add_api. If there is one, defines the target kgen::kgen.
function(kgen_have_tool result)
  kgen_find_tool(found kgen::kgen kgen KGEN_EXECUTABLE)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# Looks for kgen-crd, which kgen_add_api(HEADERS) needs: the target kgen::kgen_crd.
function(kgen_have_crd_tool result)
  kgen_find_tool(found kgen::kgen_crd kgen-crd KGEN_CRD_EXECUTABLE)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# Sets RESULT to whether there is TARGET. Defines it as PROGRAM, whose path is in VARIABLE, if it is only installed.
function(kgen_find_tool result target program variable)
  if(NOT TARGET ${target})
    find_program(${variable} ${program} NO_CMAKE_FIND_ROOT_PATH DOC "${program}, for this machine")
    if(${variable})
      add_executable(${target} IMPORTED GLOBAL)
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${${variable}}")
    endif()
  endif()
  if(TARGET ${target})
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
