# SPDX-License-Identifier: Apache-2.0
# Reads sources at every build: their head comments, and hashes.  Equal hashes mean equal code, independent of the tree's path;
# whole-line comments do not count.
#   of each kernel   its file, every file that it includes (of the tree or beside it), the compiler and its flags
#   of each op       what decides a verdict besides the kernel: the contract, the golden, the judge, the simulated machine
#   of the suites    which cases there are, and with which seeds: datasets/ and validate/cases/
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

# Sets `out` to a hash of files and of all that they include.
function(hash_of out)
  set(seen "")
  set(open "${ARGN}")
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
  set(${out} "${hash}" PARENT_SCOPE)
endfunction()

include("${SOURCE}/cmake/HeadComment.cmake")
set(about_entries "")
string(REPLACE "," "/*/*.cu;" kernels "${FOLDERS},")
file(GLOB kernels RELATIVE "${SOURCE}" ${kernels})
set(kernel_entries "")
foreach(kernel ${kernels})
  hash_of(hash "${kernel}")
  string(REGEX REPLACE "^.*/([^/]+)/([^/]+)\\.cu$" "\\1/\\2" name "${kernel}")
  string(APPEND kernel_entries "    {\"${name}\", \"${hash}\"},\n")
  assay_head_comment("${SOURCE}/${kernel}" about)
  string(APPEND about_entries "    {\"${name}\", ${about}},\n")
endforeach()
set(on_trial "")
if(TRIAL)
  file(GLOB on_trial "${TRIAL}/*/broken/*.cu" "${TRIAL}/*/variants/*.cu")
endif()
foreach(kernel ${on_trial})
  string(REGEX REPLACE "^.*/([^/]+)/[^/]+/([^/]+)\\.cu$" "\\1/\\2" name "${kernel}")
  assay_head_comment("${kernel}" about)
  string(APPEND about_entries "    {\"${name}\", ${about}},\n")
endforeach()

set(shared "")
foreach(folder ops/core reference/core reference/formula simt simt/ptx)
  list(APPEND shared "${SOURCE}/${folder}/*.hpp" "${SOURCE}/${folder}/*.cpp")
endforeach()
file(GLOB shared RELATIVE "${SOURCE}" ${shared} "${SOURCE}/validate/backends/simt.cpp" "${SOURCE}/validate/ops/by_formula.cpp")
foreach(folder values problem worker tasks judge)  # with the folders in them
  file(GLOB_RECURSE nested RELATIVE "${SOURCE}" "${SOURCE}/validate/${folder}/*.hpp" "${SOURCE}/validate/${folder}/*.cpp")
  list(APPEND shared ${nested})
endforeach()
string(REPLACE "," ";" contracts "${CONTRACTS}")
foreach(contract ${contracts})
  get_filename_component(op "${contract}" NAME_WE)
  set(files_${op} "${contract}")
  foreach(file "reference/${op}.cpp" "validate/ops/${op}.cpp")
    if(EXISTS "${SOURCE}/${file}")
      list(APPEND files_${op} "${file}")
    endif()
  endforeach()
  list(APPEND of_every_op ${files_${op}})
endforeach()
set(judge_entries "")
set(FLAGS "")  # the compiler's: a judge of the same sources is the same judge
foreach(contract ${contracts})
  get_filename_component(op "${contract}" NAME_WE)
  file(READ "${SOURCE}/${contract}" text)
  if(text MATCHES " stages\\(const Args&")  # a composite op, which is judged by others
    set(files_${op} ${of_every_op})
  endif()
  hash_of(hash ${shared} ${files_${op}})
  string(APPEND judge_entries "    {\"${op}\", \"${hash}\"},\n")
  assay_head_comment("${SOURCE}/${contract}" about)
  string(APPEND about_entries "    {\"${op}/\", ${about}},\n")
endforeach()

file(GLOB suites RELATIVE "${SOURCE}" "${SOURCE}/datasets/edges/*.json" "${SOURCE}/datasets/models/*.json"
  "${SOURCE}/validate/cases/*.cpp" "${SOURCE}/validate/cases/*.hpp")
hash_of(suites ${suites})
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT
"// Generated at build time.
#include <map>
#include <string>

#include \"validate/base/version.hpp\"

namespace assay {
namespace {
std::string_view head_comment(std::string_view op, std::string_view kernel) {
  static const std::map<std::string, std::string_view> abouts{
@about_entries@  };
  const auto at = abouts.find(std::string(op) + \"/\" + std::string(kernel));
  return at == abouts.end() ? std::string_view() : at->second;
}
const KnownTree known(head_comment, code_hash);
}  // namespace
std::string_view code_hash(std::string_view op, std::string_view kernel) {
  static const std::map<std::string, std::string_view> hashes{
@kernel_entries@  };
  const auto at = hashes.find(std::string(op) + \"/\" + std::string(kernel));
  return at == hashes.end() ? std::string_view() : at->second;
}
std::string_view judge_hash(std::string_view op) {
  static const std::map<std::string_view, std::string_view> hashes{
@judge_entries@  };
  const auto at = hashes.find(op);
  return at == hashes.end() ? std::string_view() : at->second;
}
std::string_view suites_hash() { return \"@suites@\"; }
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
set(contracts "")
foreach(contract ${ASSAY_CONTRACTS})
  file(RELATIVE_PATH contract "${PROJECT_SOURCE_DIR}" "${contract}")
  list(APPEND contracts "${contract}")
endforeach()
list(JOIN contracts "," contracts)
add_custom_target(assay_code_hashes BYPRODUCTS "${assay_code_hashes_cpp}"
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUT=${assay_code_hashes_cpp}" "-DFLAGS=${flags}"
          "-DFOLDERS=${kernel_folders}" "-DTRIAL=${trial}" "-DCONTRACTS=${contracts}" -P "${PROJECT_BINARY_DIR}/generated/write_code_hashes.cmake" VERBATIM)
