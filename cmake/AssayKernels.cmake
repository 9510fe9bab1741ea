# SPDX-License-Identifier: Apache-2.0
# What a project uses that has kernels of its own (docs/door.md), after find_package(Assay), add_subdirectory() or FetchContent.
#   assay_add_kernel(NAME OP op SOURCES FILE.cu...)      a program NAME, a worker: each FILE.cu is a kernel of the op
#   assay_discover_tests(NAME [SUITES suite...])         a test NAME.SUITE for each suite: smoke, edges, random and watch
# The global properties ASSAY_ROOT (of headers), ASSAY_PAGE, ASSAY_PROGRAM, ASSAY_DATASETS and ASSAY_GPU say where Assay is.
set_property(GLOBAL PROPERTY ASSAY_CMAKE "${CMAKE_CURRENT_LIST_DIR}")

# Sets `out` to the head comment of a file, without its licence line, as a C++ raw string.
function(assay_head_comment file out)
  file(READ "${file}" text LIMIT 4096)
  string(REGEX REPLACE "^// SPDX[^\n]*\n" "" text "${text}")
  string(REGEX MATCH "^(//[^\n]*\n)+" comment "${text}")
  string(REGEX REPLACE "(^|\n)// ?" "\\1" comment "${comment}")
  set(${out} "R\"~(${comment})~\"" PARENT_SCOPE)
endfunction()

# Appends a kernel to the caller's `declarations` and `kernel_entries`, for the flavours in ARGN; the first one has the traits.
function(assay_kernel_entry op name file broken)
  list(GET ARGN 0 first)
  assay_head_comment("${file}" about)
  set(d "")
  set(launchers "")
  foreach(flavour ${ARGN})
    string(APPEND d "namespace ${flavour}::${op}_room::${name} {\nextern const KernelTraits<${op}> traits;\n"
                    "void run(const ${op}::Args&, const Launch&);\n}\n")
    string(APPEND launchers "    k.${flavour} = erased_run<${op}, ${flavour}::${op}_room::${name}::run>;\n")
  endforeach()
  set(declarations "${declarations}${d}" PARENT_SCOPE)
  set(kernel_entries "${kernel_entries}  {\n    Kernel k = make_kernel<${op}, ${first}::${op}_room::${name}::traits>(\"${op}\", \"${name}\", ${about}, ${broken});\n${launchers}    all.push_back(k);\n  }\n" PARENT_SCOPE)
endfunction()

# Writes the caller's `includes`, `declarations` and `kernel_entries` as the table of kernels of a program.
function(assay_write_kernels file)
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
"// Generated from the file names by cmake/AssayKernels.cmake.
#include \"validate/problem/op_adapter.hpp\"
@includes@
namespace assay {
@declarations@
std::span<const Kernel> built_in_kernels() {
  static const std::vector<Kernel> table = [] {
    std::vector<Kernel> all;
@kernel_entries@    return all;
  }();
  return table;
}
}  // namespace assay
")
endfunction()

# A macro, since a language is enabled for the caller's folder.
macro(assay_add_kernel)
  get_property(assay_gpu GLOBAL PROPERTY ASSAY_GPU)
  if(assay_gpu)
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # Note: CMake 3.25 does not know that nvcc 13 supports C++20
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
  endif()
  assay_add_kernel_of(${ARGV})
endmacro()

function(assay_add_kernel_of name)
  cmake_parse_arguments(PARSE_ARGV 1 of "" "OP" "SOURCES")
  set(usage "assay_add_kernel(${name} OP op SOURCES FILE.cu...)")
  foreach(property ROOT PAGE GPU CMAKE)
    get_property(${property} GLOBAL PROPERTY ASSAY_${property})
  endforeach()
  if(of_UNPARSED_ARGUMENTS OR NOT of_OP)
    message(FATAL_ERROR "${usage}: OP and SOURCES were expected")
  elseif(NOT EXISTS "${ROOT}/ops/${of_OP}.hpp")
    message(FATAL_ERROR "${usage}: there is no op '${of_OP}'  (validate list ops)")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/assay_kernels/${name}")
  set(flavours on_simt)
  if(GPU)
    list(APPEND flavours on_gpu)
  endif()
  set(includes "#include \"ops/${of_OP}.hpp\"\n")
  foreach(list sources kernels declarations kernel_entries)  # Note: a function has its caller's variables
    set(${list} "")
  endforeach()
  foreach(source ${of_SOURCES})
    get_filename_component(file "${source}" ABSOLUTE)
    get_filename_component(stem "${source}" NAME_WE)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "${usage}: there is no file ${source}")
    elseif(NOT source MATCHES "[.]cu$")
      list(APPEND sources "${file}")
      continue()
    elseif(NOT stem MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
      message(FATAL_ERROR "${usage}: ${source} names its kernel, so letters, digits and _ were expected")
    endif()
    assay_kernel_entry(${of_OP} ${stem} "${file}" false ${flavours})
    # A file that includes the kernel's is compiled, so that one kernel can be of two languages.
    list(APPEND kernels ${stem})
    foreach(flavour ${flavours})
      set(suffix cpp)
      if(flavour STREQUAL "on_gpu")
        set(suffix cu)
      endif()
      file(CONFIGURE OUTPUT "${folder}/${stem}.${suffix}" CONTENT "// ${of_OP} ${stem}\n#include \"${file}\"\n" @ONLY)
      list(APPEND sources "${folder}/${stem}.${suffix}")
    endforeach()
  endforeach()
  if(NOT kernels)
    message(FATAL_ERROR "${usage}: a file FILE.cu was expected in SOURCES")
  endif()
  assay_write_kernels("${folder}/table_of_kernels.cpp")
  add_executable(${name} "${folder}/table_of_kernels.cpp" ${sources})
  target_link_libraries(${name} PRIVATE assay_worker)
  target_include_directories(${name} PRIVATE "${ROOT}" "${ROOT}/simt")
  set(cxx "$<COMPILE_LANGUAGE:CXX>")
  target_compile_options(${name} PRIVATE "$<${cxx}:-ffp-contract=off;-Wno-unknown-pragmas;-ffile-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=>"
    "$<$<AND:${cxx},$<STREQUAL:$<CONFIG>,>>:-O2>")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(${name} PRIVATE $<${cxx}:-march=x86-64-v3>)
  endif()
  # The launcher tells of a CUDA word that is no word of the device layer.
  set(launcher sh "${CMAKE}/compile_kernel.sh" "${PAGE}" "${folder}" ${CMAKE_CXX_COMPILER_LAUNCHER})
  set_target_properties(${name} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF UNITY_BUILD OFF
    CXX_COMPILER_LAUNCHER "${launcher}")
  if(GPU)
    set_target_properties(${name} PROPERTIES CUDA_STANDARD 20 CUDA_COMPILER_LAUNCHER "${launcher}")
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo;--expt-relaxed-constexpr>")
  endif()
endfunction()

# A macro, since tests are enabled for the caller's folder.
macro(assay_discover_tests)
  enable_testing()
  assay_discover_tests_of(${ARGV})
endmacro()

function(assay_discover_tests_of name)
  cmake_parse_arguments(PARSE_ARGV 1 of "" "" "SUITES")
  if(of_UNPARSED_ARGUMENTS OR NOT TARGET ${name})
    message(FATAL_ERROR "assay_discover_tests(${name} [SUITES suite...]): a program of assay_add_kernel() was expected")
  endif()
  foreach(property PROGRAM DATASETS GPU)
    get_property(${property} GLOBAL PROPERTY ASSAY_${property})
  endforeach()
  if(NOT of_SUITES)
    set(of_SUITES smoke edges random watch)
  endif()
  if(TARGET validate)
    add_dependencies(${name} validate)
  endif()
  set(program "$<TARGET_FILE:${name}>")
  if(NOT CMAKE_BINARY_DIR MATCHES "^[A-Za-z0-9_./+-]*$")  # for a shell
    set(program "'${program}'")
  endif()
  set(tests "")
  foreach(suite ${of_SUITES})
    set(watch "")
    if(suite STREQUAL "watch")
      set(watch --watch)
    endif()
    add_test(NAME ${name}.${suite} COMMAND "${PROGRAM}" run --worker "${program} simt" --suite ${suite} ${watch})
    list(APPEND tests ${name}.${suite})
    if(GPU AND NOT watch)
      add_test(NAME ${name}.${suite}.on_gpu COMMAND "${PROGRAM}" run --worker "${program} cuda" --suite ${suite})
      set_tests_properties(${name}.${suite}.on_gpu PROPERTIES RUN_SERIAL ON SKIP_REGULAR_EXPRESSION "backend cuda cannot be used")
      list(APPEND tests ${name}.${suite}.on_gpu)
    endif()
  endforeach()
  set_tests_properties(${tests} PROPERTIES ENVIRONMENT "ASSAY_DATASETS=${DATASETS}")
endfunction()
