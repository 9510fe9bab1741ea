# SPDX-License-Identifier: Apache-2.0
# Hashes the source of each kernel at every build: its file, every file that it includes (of the tree or beside it), the compiler
# and its flags.  Whole-line comments do not count.  Equal hashes mean equal code, independent of the tree's path.
file(WRITE "${PROJECT_BINARY_DIR}/generated/write_code_hashes.cmake" [=[
cmake_minimum_required(VERSION 3.24)
# Sets hash_FILE (of the text without comment lines) and includes_FILE, once per file.
function(look_at file)
  get_property(known GLOBAL PROPERTY "hash_${file}" SET)
  if(known)
    return()
  endif()
  file(READ "${SOURCE}/${file}" text)
  string(REGEX REPLACE "(^|\n)[ \t]*//[^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "\n[ \t\n]*\n" "\n" text "${text}")
  string(SHA256 hash "${text}")
  set_property(GLOBAL PROPERTY "hash_${file}" "${hash}")
  string(REGEX MATCHALL "#[ \t]*include[ \t]*\"[^\"]+\"" lines "${text}")
  set(found "")
  get_filename_component(beside "${file}" DIRECTORY)  # a kernel from elsewhere includes what lies there, or beside that folder
  foreach(line ${lines})
    string(REGEX REPLACE ".*\"([^\"]+)\"" "\\1" name "${line}")
    foreach(place "${name}" "${beside}/${name}" "${beside}/../${name}")
      if(EXISTS "${SOURCE}/${place}")
        cmake_path(NORMAL_PATH place)
        list(APPEND found "${place}")
        break()
      endif()
    endforeach()
  endforeach()
  set_property(GLOBAL PROPERTY "includes_${file}" "${found}")
endfunction()

string(REPLACE "," "/*/*.cu;" kernels "${FOLDERS},")
file(GLOB kernels RELATIVE "${SOURCE}" ${kernels})
set(entries "")
foreach(kernel ${kernels})
  set(seen "")
  set(open "${kernel}")
  while(open)
    list(POP_FRONT open file)
    if(NOT file IN_LIST seen)
      list(APPEND seen "${file}")
      look_at("${file}")
      get_property(more GLOBAL PROPERTY "includes_${file}")
      list(APPEND open ${more})
    endif()
  endwhile()
  list(SORT seen)
  set(all "${FLAGS}")
  foreach(file ${seen})
    get_property(hash GLOBAL PROPERTY "hash_${file}")
    string(APPEND all " ${file} ${hash}")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING "${hash}" 0 16 hash)
  string(REGEX REPLACE "^.*/([^/]+)/([^/]+)\\.cu$" "\\1/\\2" name "${kernel}")
  string(APPEND entries "    {\"${name}\", \"${hash}\"},\n")
endforeach()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT
"// Generated at build time.
#include <map>
#include <string>

#include \"validate/base/version.hpp\"

namespace assay {
std::string_view code_hash(std::string_view op, std::string_view kernel) {
  static const std::map<std::string, std::string_view> hashes{
@entries@  };
  const auto at = hashes.find(std::string(op) + \"/\" + std::string(kernel));
  return at == hashes.end() ? std::string_view() : at->second;
}
}  // namespace assay
")
]=])
set(assay_code_hashes_cpp "${PROJECT_BINARY_DIR}/generated/code_hashes.cpp")
set(flags "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS}")
if(ASSAY_GPU)
  string(REPLACE ";" "," architectures "${CMAKE_CUDA_ARCHITECTURES}")
  set(flags "nvcc ${CMAKE_CUDA_COMPILER_VERSION} ${architectures} ${CMAKE_BUILD_TYPE} ${CMAKE_CUDA_FLAGS} ${flags}")
endif()
list(JOIN folders "," kernel_folders)  # of Registry.cmake
add_custom_target(assay_code_hashes BYPRODUCTS "${assay_code_hashes_cpp}"
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUT=${assay_code_hashes_cpp}" "-DFLAGS=${flags}"
          "-DFOLDERS=${kernel_folders}" -P "${PROJECT_BINARY_DIR}/generated/write_code_hashes.cmake" VERBATIM)
