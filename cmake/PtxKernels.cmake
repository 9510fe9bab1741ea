# SPDX-License-Identifier: Apache-2.0
# Where nvcc is, with a GPU or without: a target ptx_OP for each op, a worker that runs the op's kernels on simt from the PTX that
# nvcc makes of them (docs/ptx.md), and ptx_kernels for all.  Nothing else depends on them.
find_program(ASSAY_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(ASSAY_NVCC)
if(NOT ASSAY_NVCC)
  return()
endif()
set(ASSAY_PTX_ARCH 80 CACHE STRING "sm_ number for which nvcc makes the PTX of --backend ptx; kernels sm90_* are made for 90a")
set(ASSAY_PTX_FLAGS "" CACHE STRING "More flags of nvcc for the PTX of --backend ptx, such as --fmad=false")
separate_arguments(flags UNIX_COMMAND "${ASSAY_PTX_FLAGS}")
set(launcher "")
if(ASSAY_CCACHE)
  set(launcher "${ASSAY_CCACHE}")
endif()

set(backends "${PROJECT_SOURCE_DIR}/validate/backends")
add_library(assay_ptx_worker OBJECT EXCLUDE_FROM_ALL "${backends}/host.cpp" "${backends}/simt.cpp"
  "${backends}/runtime/cudart.cpp" "${backends}/runtime/fidelity_text.cpp" "${backends}/runtime/ptx_worker.cpp"
)
target_compile_definitions(assay_ptx_worker PRIVATE ASSAY_TREE="${PROJECT_SOURCE_DIR}/")
target_link_libraries(assay_ptx_worker PRIVATE assay_flags PUBLIC assay_validate assay_simt assay_room_simt ${ASSAY_FMT})

add_custom_target(ptx_kernels)
set(all_objects "")
set(all_hopper "")
foreach(op ${ASSAY_OPS})
  set(folder "${PROJECT_BINARY_DIR}/ptx/${op}")
  file(MAKE_DIRECTORY "${folder}")
  set(objects_${op} "")
  set(hopper "")
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cuda/${op}/*.cu")
  list(FILTER files EXCLUDE REGEX "/baseline_[^/]*$")
  foreach(file ${files})
    get_filename_component(name "${file}" NAME_WE)
    set(arch compute_${ASSAY_PTX_ARCH})
    if(name MATCHES "^sm90_")
      set(arch compute_90a)
    endif()
    add_custom_command(OUTPUT "${folder}/${name}.o" DEPFILE "${folder}/${name}.d" DEPENDS "${file}" VERBATIM
      COMMENT "PTX of ${op}/${name} for ${arch}"
      COMMAND ${launcher} "${ASSAY_NVCC}" -c -std=c++20 -gencode arch=${arch},code=${arch} --no-compress -lineinfo
        --expt-relaxed-constexpr ${flags} "-I${PROJECT_SOURCE_DIR}" -MD -MF "${folder}/${name}.d" -o "${folder}/${name}.o" "${file}")
    if(name MATCHES "^sm90_")
      list(APPEND hopper "${folder}/${name}.o")
    else()
      list(APPEND objects_${op} "${folder}/${name}.o")
    endif()
  endforeach()
  list(APPEND all_objects ${objects_${op}})
  list(APPEND all_hopper ${hopper})
  # Note: of an inline function in several objects the first is taken, which must not launch what was made for sm_90a alone.
  list(APPEND objects_${op} ${hopper})
endforeach()
foreach(op ${ASSAY_OPS})
  set(needed "")
  if(op IN_LIST ASSAY_COMPOSITE_OPS)  # a composite op, whose kernels launch those of others
    set(objects_${op} ${all_objects} ${all_hopper})
    set(needed ${ASSAY_OPS})
    list(REMOVE_ITEM needed ${op})
    list(TRANSFORM needed PREPEND ptx_)
  endif()
  add_executable(ptx_${op} EXCLUDE_FROM_ALL ${objects_${op}})
  set_target_properties(ptx_${op} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ptx" OUTPUT_NAME ${op})
  target_link_libraries(ptx_${op} PRIVATE assay_flags assay_ptx_worker assay_ops OpenMP::OpenMP_CXX)
  target_link_options(ptx_${op} PRIVATE -no-pie)  # Note: nvcc's objects are not position-independent
  assay_compile_sooner(ptx_${op} -O1)
  add_dependencies(ptx_kernels ptx_${op})
  if(needed)
    add_dependencies(ptx_${op} ${needed})  # Note: make would else compile an object twice at a time
  endif()
endforeach()
