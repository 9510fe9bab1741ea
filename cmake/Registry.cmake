# SPDX-License-Identifier: Apache-2.0
# The ops and kernels of a build, by file names:
#   ops/OP.hpp, reference/OP.cpp, cuda/OP/KERNEL.cu, and validate/ops/OP.cpp if it exists.
# No table names them: each enters itself in the program that it is linked with (ops/core/linked.hpp).
# More may come from elsewhere: kernels of ASSAY_KERNEL_DIRS, ops of ASSAY_OP_DIRS (docs/door.md).
# A kernel baseline_VENDOR calls that vendor's library: it runs on a GPU only, and is built only if ASSAY_VENDORS has the vendor;
# baseline_eager needs cublaslt.
# Sets ASSAY_OPS and ASSAY_COMPOSITE_OPS (names), ASSAY_KERNELS and ASSAY_BASELINES (files), ASSAY_CONTRACTS (files of all ops, built
# or not); of those from elsewhere ASSAY_OWN_OPS and ASSAY_OWN_KERNELS.
set(ASSAY_KERNEL_DIRS "" CACHE STRING "Folders with kernels from elsewhere, OP/KERNEL.cu in them, relative to the source folder or absolute")
set(ASSAY_OP_DIRS "" CACHE STRING "Folders with ops from elsewhere, OP.hpp and OP/KERNEL.cu in them, relative to the source folder or absolute")
set(ASSAY_ONLY "" CACHE STRING "Ops to build, with ; between; empty, or if one is composite: all")
set(generated "${PROJECT_BINARY_DIR}/generated")

# Ops whose kernels launch those of others: cuda/OP/steps.cuh declares these (cmake/tests/kernel_rules.sh).
file(GLOB ASSAY_COMPOSITE_OPS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cuda/*/steps.cuh")
list(TRANSFORM ASSAY_COMPOSITE_OPS REPLACE "^.*/([^/]+)/steps[.]cuh$" "\\1")
foreach(op ${ASSAY_ONLY})
  if(op IN_LIST ASSAY_COMPOSITE_OPS)
    set(ASSAY_ONLY "")
  elseif(NOT EXISTS "${PROJECT_SOURCE_DIR}/ops/${op}.hpp")
    message(FATAL_ERROR "ASSAY_ONLY: there is no op '${op}' (ops/${op}.hpp is missing)")
  endif()
endforeach()

# assay_ops_of(FOLDER TEMPLATE TO OP...): each op of a folder, or of these alone if there are any, enters itself by a file that the
# template makes, and its name is added to a list.
function(assay_ops_of folder template to)
  file(GLOB contracts CONFIGURE_DEPENDS "${folder}/*.hpp")
  if(NOT contracts)
    message(FATAL_ERROR "ASSAY_OP_DIRS: ${folder} holds no file OP.hpp")
  endif()
  set(names "")
  foreach(contract ${contracts})
    get_filename_component(op "${contract}" NAME_WE)
    if(ARGN AND NOT op IN_LIST ARGN)
      continue()
    elseif(op IN_LIST ASSAY_OPS)
      message(FATAL_ERROR "${contract}: there is another op '${op}'")
    endif()
    string(REPLACE "${PROJECT_SOURCE_DIR}/ops/" "ops/" contract "${contract}")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/${template}" "${generated}/ops/${op}.cpp" @ONLY)
    list(APPEND names ${op})
  endforeach()
  set(${to} ${${to}} ${names} PARENT_SCOPE)
  set(ASSAY_CONTRACTS ${ASSAY_CONTRACTS} ${contracts} PARENT_SCOPE)
endfunction()
set(ASSAY_OPS "")
set(ASSAY_OWN_OPS "")
set(ASSAY_CONTRACTS "")
assay_ops_of("${PROJECT_SOURCE_DIR}/ops" op.in ASSAY_OPS ${ASSAY_ONLY})

# Our kernels, and those from elsewhere.
set(folders "${PROJECT_SOURCE_DIR}/cuda")  # with kernels
foreach(folder ${ASSAY_OP_DIRS})
  get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  assay_ops_of("${folder}" own_op.in ASSAY_OWN_OPS)
endforeach()
foreach(folder ${ASSAY_KERNEL_DIRS} ${ASSAY_OP_DIRS})
  get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  list(APPEND folders "${folder}")
endforeach()
set(names "")  # OP/KERNEL
set(ASSAY_KERNELS "")
set(ASSAY_OWN_KERNELS "")
set(to ASSAY_KERNELS)
foreach(folder ${folders})
  file(GLOB kernels CONFIGURE_DEPENDS "${folder}/*/*.cu")
  if(NOT kernels)
    message(FATAL_ERROR "ASSAY_KERNEL_DIRS, ASSAY_OP_DIRS: ${folder} holds no file OP/KERNEL.cu")
  endif()
  foreach(kernel ${kernels})
    string(REGEX REPLACE "^.*/([^/]+/[^/]+)[.]cu$" "\\1" name "${kernel}")
    get_filename_component(op "${name}" DIRECTORY)
    if(name IN_LIST names)
      message(FATAL_ERROR "${kernel}: there is another kernel ${name}")
    elseif(op IN_LIST ASSAY_OPS OR op IN_LIST ASSAY_OWN_OPS)
      list(APPEND names "${name}")
      list(APPEND ${to} "${kernel}")
    elseif(NOT EXISTS "${PROJECT_SOURCE_DIR}/ops/${op}.hpp")
      message(FATAL_ERROR "${kernel}: there is no op '${op}' (ops/${op}.hpp is missing)")
    endif()
  endforeach()
  set(to ASSAY_OWN_KERNELS)  # those of the other folders
endforeach()
foreach(op ${ASSAY_OPS} ${ASSAY_OWN_OPS})
  if(NOT names MATCHES "(^|;)${op}/")
    message(FATAL_ERROR "the op '${op}' has no kernel: ${op}/ holds no .cu file")
  endif()
endforeach()
set(ASSAY_BASELINES ${ASSAY_KERNELS})
list(JOIN ASSAY_VENDORS "|" vendors)
if("cublaslt" IN_LIST ASSAY_VENDORS)
  string(APPEND vendors "|eager")
endif()
list(FILTER ASSAY_BASELINES INCLUDE REGEX "/baseline_(${vendors})(_[^/]*)?\\.cu$")
list(FILTER ASSAY_KERNELS EXCLUDE REGEX "/baseline_[^/]*$")
