# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` installs: the runtime's libraries and public headers, the generated built-in API, the tool, and
# the package that find_package(kgen) reads. Two export sets, because a cross build needs the runtime for one machine
# and the tool for another.
include(CMakePackageConfigHelpers)

set(kgen_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kgen")

# Every library for which kgen_install_library was called. Static archives are in an export set of their own, because
# kgenConfig.cmake chooses between them and the shared libraries; what both kinds use is in the set Common.
get_property(kgen_libraries GLOBAL PROPERTY KGEN_INSTALLED_LIBRARIES)
foreach(library IN LISTS kgen_libraries ITEMS kgen_runtime)
  get_target_property(type ${library} TYPE)
  if((type STREQUAL "INTERFACE_LIBRARY" AND NOT library STREQUAL "kgen_runtime") OR library STREQUAL "kgen_testing")
    list(APPEND kgen_common_libraries ${library})
  else()
    list(APPEND kgen_static_libraries ${library})
  endif()
endforeach()
get_property(kgen_shared_libraries GLOBAL PROPERTY KGEN_SHARED_LIBRARIES)
foreach(kind IN ITEMS static shared common)
  if(NOT kgen_${kind}_libraries)
    continue()
  endif()
  install(
    TARGETS ${kgen_${kind}_libraries}
    EXPORT kgen_${kind}
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT kgen_${kind} FILE kgenTargets-${kind}.cmake NAMESPACE kgen:: DESTINATION "${kgen_package_dir}"
          COMPONENT runtime)
endforeach()
install(DIRECTORY runtime/include/kgen DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime FILES_MATCHING PATTERN "*.h")
if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/generated/k8s")
  install(DIRECTORY generated/k8s DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime FILES_MATCHING PATTERN "*.h")
endif()

# For USES of kgen_add_api.
install(DIRECTORY openapi/kubernetes-1.36 DESTINATION "${CMAKE_INSTALL_DATADIR}/kgen/openapi" COMPONENT runtime)

if(TARGET kgen)
  install(TARGETS kgen EXPORT kgenToolTargets RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tool)
  if(TARGET kgen_crd)
    install(TARGETS kgen_crd EXPORT kgenToolTargets RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tool)
  endif()
  install(EXPORT kgenToolTargets NAMESPACE kgen:: DESTINATION "${kgen_package_dir}" COMPONENT tool)
endif()

set(kgen_openapi_dir "${CMAKE_INSTALL_DATADIR}/kgen/openapi/kubernetes-1.36")
get_target_property(kgen_core_use kgen_k8s_core KGEN_USE)
configure_package_config_file(
  cmake/kgenConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/kgenConfig.cmake" INSTALL_DESTINATION "${kgen_package_dir}"
  PATH_VARS kgen_openapi_dir)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/kgenConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${CMAKE_CURRENT_BINARY_DIR}/kgenConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/kgenConfigVersion.cmake"
        cmake/KgenGenerate.cmake
  DESTINATION "${kgen_package_dir}" COMPONENT runtime)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

# pkg-config, and the names that it gives the static libraries: libkgen.a and libkgen_k8s.a are texts for the linker that
# name the archives. A shared library brings what it links, so users of it need no further library.
if(KGEN_BUILD_SHARED)
  set(kgen_private .private)
endif()
function(kgen_install_group name)
  list(TRANSFORM ARGN PREPEND "-lkgen_" OUTPUT_VARIABLE archives)
  list(JOIN archives " " archives)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/lib${name}.a" CONTENT "GROUP ( ${archives} )\n")
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/lib${name}.a" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
endfunction()
kgen_install_group(kgen controller cache client net codec yaml core json)
kgen_install_group(kgen_k8s k8s_groups k8s_core)
set(kgen_prefix "@CMAKE_INSTALL_PREFIX@")  # known when it is installed
foreach(name IN ITEMS kgen kgen-k8s kgen-validation kgen-testing)
  configure_file("cmake/pkgconfig/${name}.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc.in" @ONLY)
  set(made "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc")
  install(
    CODE "configure_file(\"${made}.in\" \"${made}\" @ONLY)
file(INSTALL \"${made}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig\")"
    COMPONENT runtime)
endforeach()
