# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
set(ASSAY_SHARE "${CMAKE_INSTALL_DATADIR}/assay")
set(ASSAY_DOCS "${CMAKE_INSTALL_DATADIR}/doc/assay")
install(TARGETS validate RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET set_watch)
  install(TARGETS set_watch RUNTIME DESTINATION lib/assay/sets OPTIONAL)  # where it is built: cmake --build BUILD --target set_watch
endif()
if(TARGET assay_ptx)
  install(TARGETS assay_ptx LIBRARY DESTINATION "${CMAKE_INSTALL_BINDIR}")  # beside the command, where Python looks for it
endif()
install(FILES include/assay.h include/assay_ptx.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY datasets DESTINATION "${ASSAY_SHARE}")
install(FILES LICENSE DESTINATION "${ASSAY_DOCS}")
install(DIRECTORY docs/ DESTINATION "${ASSAY_DOCS}" FILES_MATCHING PATTERN *.md)
# The command makes the man page from its own flags.
install(CODE "
  set(man \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
  file(MAKE_DIRECTORY \"\${man}\")
  execute_process(COMMAND \"$<TARGET_FILE:validate>\" --man OUTPUT_FILE \"\${man}/validate.1\" COMMAND_ERROR_IS_FATAL ANY)")

# The package for projects with kernels of their own: what a worker is made of.  It is the component `development`.
set(ASSAY_HEADERS "${CMAKE_INSTALL_INCLUDEDIR}/assay")
set(ASSAY_ARCHIVES "${CMAKE_INSTALL_LIBDIR}/assay")
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Assay")
foreach(folder ops simt cuda/core validate/cases validate/problem validate/values)
  install(DIRECTORY ${folder}/ DESTINATION "${ASSAY_HEADERS}/${folder}" COMPONENT development FILES_MATCHING PATTERN *.hpp PATTERN *.cuh
    PATTERN tests EXCLUDE PATTERN probe EXCLUDE PATTERN vendor EXCLUDE)
endforeach()
install(TARGETS ${ASSAY_LIBRARIES} ARCHIVE DESTINATION "${ASSAY_ARCHIVES}" COMPONENT development)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/AssayConfig.cmake.in "${PROJECT_BINARY_DIR}/generated/AssayConfig.cmake"
  INSTALL_DESTINATION "${package}" PATH_VARS ASSAY_ARCHIVES ASSAY_HEADERS ASSAY_DOCS ASSAY_SHARE CMAKE_INSTALL_BINDIR
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/AssayConfigVersion.cmake" COMPATIBILITY ExactVersion)
install(FILES "${PROJECT_BINARY_DIR}/generated/AssayConfig.cmake" "${PROJECT_BINARY_DIR}/generated/AssayConfigVersion.cmake"
  cmake/AssayKernels.cmake cmake/HeadComment.cmake cmake/compile_kernel.sh DESTINATION "${package}" COMPONENT development)

# The licence texts of what is within the programs of a portable build; `cpack` packs them, since that build is carried elsewhere.
install(CODE "
  execute_process(COMMAND python3 \"${PROJECT_SOURCE_DIR}/cmake/notices.py\" \"${PROJECT_BINARY_DIR}\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${ASSAY_DOCS}/notices\" COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT notices EXCLUDE_FROM_ALL)

# What `cpack` packs, as a tarball and for Debian: all but `development`, which must be built by the compiler that uses it.
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_CMAKE_GENERATOR Ninja)  # of which it asks for no build before it packs; with make it would build all
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};assay;Unspecified;/")
if(ASSAY_PORTABLE)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};assay;notices;/")
endif()
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_CONTACT "the authors of Assay")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_FILE_NAME "assay-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # which libraries it is linked with, and the glibc that it needs
include(CPack)
