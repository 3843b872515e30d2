# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` installs: the runtime's libraries and public headers, the generated built-in API, the tool, and
# the package that find_package(kgen) reads. Two export sets, because a cross build needs the runtime for one machine
# and the tool for another.
include(CMakePackageConfigHelpers)

set(kgen_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kgen")

# Installs every library for which kgen_install_library was called.
get_property(kgen_libraries GLOBAL PROPERTY KGEN_INSTALLED_LIBRARIES)
install(
  TARGETS ${kgen_libraries} kgen_runtime
  EXPORT kgenTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT kgenTargets NAMESPACE kgen:: DESTINATION "${kgen_package_dir}" COMPONENT runtime)
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
configure_package_config_file(
  cmake/kgenConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/kgenConfig.cmake" INSTALL_DESTINATION "${kgen_package_dir}"
  PATH_VARS kgen_openapi_dir)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/kgenConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${CMAKE_CURRENT_BINARY_DIR}/kgenConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/kgenConfigVersion.cmake"
        cmake/KgenGenerate.cmake
  DESTINATION "${kgen_package_dir}" COMPONENT runtime)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
