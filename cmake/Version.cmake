# SPDX-License-Identifier: Apache-2.0
# Looks up the commit at every build; rewrites the file only if it changed.
file(WRITE "${PROJECT_BINARY_DIR}/generated/write_version.cmake" [=[
cmake_minimum_required(VERSION 3.24)
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT
"// Generated at build time.
#include \"validate/base/version.hpp\"
namespace assay {
std::string_view version() { return \"@VERSION@\"; }
std::string_view commit() { return \"@commit@\"; }
std::string_view build_flags() { return \"@FLAGS@\"; }
}  // namespace assay
")
]=])
set(assay_version_cpp "${PROJECT_BINARY_DIR}/generated/version.cpp")
set(flags "${CMAKE_BUILD_TYPE}")
if(ASSAY_GPU)
  string(REPLACE ";" "," architectures "${CMAKE_CUDA_ARCHITECTURES}")
  string(APPEND flags " cuda ${CMAKE_CUDA_COMPILER_VERSION} sm ${architectures}")
endif()
if(ASSAY_ASAN)
  string(APPEND flags " asan")
endif()
if(ASSAY_TSAN)
  string(APPEND flags " tsan")
endif()
add_custom_target(assay_version BYPRODUCTS "${assay_version_cpp}"
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUT=${assay_version_cpp}" "-DVERSION=${PROJECT_VERSION}"
          "-DFLAGS=${flags}" -P "${PROJECT_BINARY_DIR}/generated/write_version.cmake" VERBATIM)
