# SPDX-License-Identifier: Apache-2.0
set(ASSAY_CUDA AUTO CACHE STRING "CUDA kernels for a GPU: AUTO (if nvcc and a GPU are present), ON, OFF")
set_property(CACHE ASSAY_CUDA PROPERTY STRINGS AUTO ON OFF)
option(ASSAY_TESTS "Tests, and the broken kernels that they need" ${PROJECT_IS_TOP_LEVEL})
option(ASSAY_ASAN "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(ASSAY_TSAN "ThreadSanitizer, over the judge and its threads" OFF)
option(ASSAY_FUZZ "Fuzzers with sanitizers; with libFuzzer if the compiler is clang" OFF)
option(ASSAY_PORTABLE "Link all but the C library statically, for a binary that is copied to another machine" OFF)
option(ASSAY_UNITY "Compile several files as one, with precompiled headers: half the work from scratch, maybe more after a change" OFF)
option(ASSAY_WERROR "Warnings are errors" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O2")  # Note: without NDEBUG, so that asserts stay active in releases
set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ASSAY_CCACHE}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${ASSAY_CCACHE}")
endif()

# assay_unity(TARGET N|FOLDER|GROUP [JOIN FOLDER:OTHER...] [APART FILE...]): with ASSAY_UNITY, compiles N files of a target as one
# unit, or those of one folder, or those of one UNITY_GROUP.  A folder joins another's unit.  APART files, whose names clash with
# others, stay separate.
function(assay_unity target files)
  cmake_parse_arguments(PARSE_ARGV 2 of "" "" "JOIN;APART")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ASSAY_UNITY})
  if(files STREQUAL "FOLDER")
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
      get_filename_component(folder "${source}" DIRECTORY)
      get_filename_component(folder "${folder}" NAME)
      foreach(join ${of_JOIN})
        if(join MATCHES "^${folder}:(.*)$")
          set(folder "${CMAKE_MATCH_1}")
        endif()
      endforeach()
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}")
    endforeach()
  endif()
  if(files MATCHES "FOLDER|GROUP")
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  else()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${files})
  endif()
  set_source_files_properties(${of_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# assay_precompiled(TARGET HEADER...): with ASSAY_UNITY, compiles these headers once for a target, unless ccache is there: it cannot
# keep what such a header was used for.
function(assay_precompiled target)
  if(ASSAY_UNITY AND NOT ASSAY_CCACHE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
# What the judge and the command include most.
set(ASSAY_COMMON_HEADERS <algorithm> <cmath> <functional> <map> <memory> <optional> <span> <string> <vector> <fmt/format.h> <fmt/ranges.h>
  <nlohmann/json.hpp>)

# assay_compile_sooner(TARGET LEVEL): less optimised, for code that is compiled in more time than it runs for.
function(assay_compile_sooner target level)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:${level}>)
endfunction()

# Flags of every C++ target of the project.
add_library(assay_flags INTERFACE)
target_compile_options(assay_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wno-missing-field-initializers -ffp-contract=off
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= $<$<BOOL:${ASSAY_WERROR}>:-Werror>>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)  # warns of sums of strings: GCC bug 105651
  target_compile_options(assay_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(assay_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v3>)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  target_compile_options(assay_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsigned-char>)  # as on x86-64
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)  # the same bug, in this warning too
    target_compile_options(assay_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>)
  endif()
endif()
# What hardens a program against its input: all that it links is bound at its start and then read-only.  The judge, which reads
# what others wrote, also has guarded stacks and checked calls of the C library; kernels and the simulated machine have not.
target_link_options(assay_flags INTERFACE -Wl,-z,relro,-z,now)
add_library(assay_hardened INTERFACE)
if(NOT ASSAY_ASAN AND NOT ASSAY_TSAN AND NOT ASSAY_FUZZ)  # whose own checks are stricter
  target_compile_options(assay_hardened INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong $<$<CONFIG:Release>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>>)
endif()
if(ASSAY_ASAN)
  target_compile_options(assay_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer -g>)
  target_link_options(assay_flags INTERFACE -fsanitize=address,undefined)
endif()
if(ASSAY_TSAN)
  target_link_options(assay_flags INTERFACE -fsanitize=thread)  # what is compiled with it, says validate/CMakeLists.txt
endif()
# What has libgcc and the C++ library in it needs glibc 2.34 alone: it leaves out what nobody calls of them, of which some asks for
# 2.36, and has a function of glibc 2.35 of its own.
add_library(assay_dl_find_object OBJECT cmake/portable/dl_find_object.cpp)
target_link_libraries(assay_dl_find_object PRIVATE assay_flags)
set_target_properties(assay_dl_find_object PROPERTIES POSITION_INDEPENDENT_CODE ON)
set(ASSAY_RUNTIME_WITHIN -static-libgcc -static-libstdc++ -Wl,--gc-sections)
if(ASSAY_PORTABLE)
  target_link_options(assay_flags INTERFACE ${ASSAY_RUNTIME_WITHIN})
endif()
# assay_recorded(TARGET): of a portable build, what is within TARGET is written to TARGET.linked, for cmake/notices.py.
function(assay_recorded target)
  if(ASSAY_PORTABLE)
    target_link_options(${target} PRIVATE -Wl,--dependency-file=${target}.linked)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS_USE_LINKER OFF)  # newer CMake would have the linker write a file of its own
  endif()
endfunction()
