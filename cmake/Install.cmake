# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
install(TARGETS validate RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY datasets DESTINATION "${CMAKE_INSTALL_DATADIR}/assay")
