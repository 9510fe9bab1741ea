# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
install(TARGETS validate RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(FILES include/assay.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY datasets DESTINATION "${CMAKE_INSTALL_DATADIR}/assay")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/assay")
# The command makes the man page from its own flags.
install(CODE "
  set(man \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
  file(MAKE_DIRECTORY \"\${man}\")
  execute_process(COMMAND \"$<TARGET_FILE:validate>\" --man OUTPUT_FILE \"\${man}/validate.1\" COMMAND_ERROR_IS_FATAL ANY)")
