# SPDX-License-Identifier: Apache-2.0
# A toolchain file: builds for AArch64 Linux on another machine, by Debian's cross compiler.
#   cmake/aarch64_libraries.sh LIBRARIES
#   cmake -S . -B BUILD --toolchain cmake/aarch64.cmake -DASSAY_AARCH64_LIBRARIES=LIBRARIES -DASSAY_TESTS=OFF
# LIBRARIES holds fmt and zlib for AArch64.  Without it they are looked for in CMAKE_PREFIX_PATH, and where Debian puts packages
# of that architecture.  Libraries that are headers alone are the host's.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc CACHE STRING "")
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++ CACHE STRING "")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ASSAY_AARCH64_LIBRARIES "" CACHE PATH "The folder that cmake/aarch64_libraries.sh made")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ASSAY_AARCH64_LIBRARIES)
if(ASSAY_AARCH64_LIBRARIES)
  list(PREPEND CMAKE_PREFIX_PATH "${ASSAY_AARCH64_LIBRARIES}/usr")
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# What runs its programs on this machine: `-L` names the folder with the loader and the C library.
find_program(ASSAY_QEMU_AARCH64 NAMES qemu-aarch64-static qemu-aarch64)
if(ASSAY_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${ASSAY_QEMU_AARCH64};-L;/usr/aarch64-linux-gnu" CACHE STRING "")
endif()
