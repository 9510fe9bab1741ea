# SPDX-License-Identifier: Apache-2.0
# Where nvcc is: the kernels of this tree as a shared object with the C interface (validate/backends/library/library.cpp).
# The kernels of an op stand in the order in which they are preferred: those for one architecture (sm90_), then the ladder of
# datasets/bench/OP.json from its last kernel on.  Kernels in neither are left out, and so are vendors' (baseline_).

# What binds kernels to the C interface.  Note: with fmt's headers alone, so that the object needs no libfmt.
set(ASSAY_EXPORTED "${PROJECT_SOURCE_DIR}/validate/problem/numerics/numerics_text.cpp" "${PROJECT_SOURCE_DIR}/validate/base/error.cpp")
function(assay_exported_kernels target folder name)
  add_library(${target} MODULE ${ARGN} ${ASSAY_EXPORTED})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY "${folder}" UNITY_BUILD OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${target} PRIVATE assay_flags assay_room_ops assay_room_include assay_room_validate fmt::fmt-header-only)
endfunction()
if(NOT ASSAY_GPU)
  return()
endif()

set(exported "${PROJECT_SOURCE_DIR}/validate/backends/library/library.cpp")
foreach(op ${ASSAY_OPS})
  set(dataset "${PROJECT_SOURCE_DIR}/datasets/bench/${op}.json")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${dataset}")
  if(EXISTS "${dataset}")  # else a new op: nobody has said which of its kernels is preferred
    file(READ "${dataset}" text)
    string(JSON ladder GET "${text}" ladder)
    string(REGEX MATCHALL "[a-z0-9_]+" kernels "${ladder}")
    list(REVERSE kernels)
    file(GLOB of_one RELATIVE "${PROJECT_SOURCE_DIR}/cuda/${op}" "${PROJECT_SOURCE_DIR}/cuda/${op}/sm90_*.cu")
    list(TRANSFORM of_one REPLACE "\\.cu$" "")
    set(preferred "")
    foreach(kernel ${of_one} ${kernels})
      assay_head_comment("${PROJECT_SOURCE_DIR}/cuda/${op}/${kernel}.cu" about)
      string(APPEND preferred "\n    {\"${kernel}\", ${about}},")
    endforeach()
    set(file "${PROJECT_BINARY_DIR}/generated/exported/${op}.cpp")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/exported_op.in" "${file}" @ONLY)
    list(APPEND exported "${file}")
  endif()
endforeach()
set_target_properties(assay_kernels_gpu assay_vendor PROPERTIES POSITION_INDEPENDENT_CODE ON)
if(TARGET assay_kernels_gpu_hopper)
  set_target_properties(assay_kernels_gpu_hopper PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set(hopper_objects $<TARGET_OBJECTS:assay_kernels_gpu_hopper>)
endif()
assay_exported_kernels(assay_kernels "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" libassay_kernels ${exported}
  "$<FILTER:$<TARGET_OBJECTS:assay_kernels_gpu>,EXCLUDE,/(baseline_[^/]*|probe|greedy)[.]cu>" ${hopper_objects})
target_compile_definitions(assay_kernels PRIVATE ASSAY_GPU)
target_link_libraries(assay_kernels PRIVATE assay_vendor assay_room_cuda CUDA::cudart_static)
# Note: a process that loads it has a CUDA runtime and a C++ library of its own, which must not take the place of these.
target_link_options(assay_kernels PRIVATE -s -static-libgcc -static-libstdc++ -Wl,--exclude-libs,ALL)
set_target_properties(assay_kernels PROPERTIES LINKER_LANGUAGE CXX)
assay_recorded(assay_kernels)
