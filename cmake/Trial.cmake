# SPDX-License-Identifier: Apache-2.0
# What the judge is put on trial with, for tests alone:
#   cuda/OP/broken/KERNEL.cu      kernels that are wrong on purpose
#   cuda/OP/variants/KERNEL.cu    right kernels that compute otherwise, to test for false alarms
#   cuda/OP/faults.txt, variants.txt   more of both, as edits of right kernels: cmake/faults.py writes them into generated/faults of the
#                                      build folder, laid out like cuda/
#   cuda/OP/small/KERNEL.cu       kernels that are there to be edited, and not built
#   validate/tests/hostile/OP/KERNEL.cu   kernels that attack the judge; gpu_KERNEL runs on a GPU only
# ASSAY_TRIAL is the folder of all these but the last: cuda, or another folder laid out alike.
# Sets ASSAY_BROKEN_UNITS and ASSAY_HOSTILE (files), and ASSAY_VARIANTS (names).
set(ASSAY_TRIAL "cuda" CACHE STRING "Folder of the kernels to put the judge on trial with, relative to the source folder or absolute")
set(ASSAY_BROKEN_UNITS "")
if(NOT ASSAY_TESTS)
  return()
endif()
file(GLOB ASSAY_HOSTILE CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/validate/tests/hostile/*/*.cu")

# Broken kernels and variants are compiled together, one unit per op, since each has its own namespace.  Which edits there are is
# seen here; they are written again whenever an edit, its kernel or a header of that kernel has changed.
get_filename_component(trial "${ASSAY_TRIAL}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
file(GLOB faults CONFIGURE_DEPENDS "${trial}/*/faults.txt" "${trial}/*/variants.txt")
set(write_edits "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/faults.py" --write "${generated}/faults" "${trial}")
if(faults)
  execute_process(COMMAND ${write_edits} RESULT_VARIABLE code ERROR_VARIABLE told)
  if(code EQUAL 1)
    message(WARNING "Edits that do not match their kernels:\n${told}")
  elseif(NOT code EQUAL 0)
    message(FATAL_ERROR "${told}")
  endif()
  file(GLOB written "${generated}/faults/*/broken/*.cu" "${generated}/faults/*/variants/*.cu")
  file(GLOB edited CONFIGURE_DEPENDS "${trial}/*/*.cu" "${trial}/*/*.cuh" "${trial}/*/variants/*.cu" "${trial}/*/small/*.cu" "${trial}/*/small/*.cuh"
    "${PROJECT_SOURCE_DIR}/cuda/core/*.cuh")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${faults} "${PROJECT_SOURCE_DIR}/cmake/faults.py")
  add_custom_command(OUTPUT "${generated}/faults/written" BYPRODUCTS ${written} DEPENDS ${faults} ${edited} "${PROJECT_SOURCE_DIR}/cmake/faults.py"
    COMMAND ${write_edits} COMMAND "${CMAKE_COMMAND}" -E touch "${generated}/faults/written" COMMENT "Kernels from edits" VERBATIM)
  add_custom_target(assay_edits DEPENDS "${generated}/faults/written")
else()
  file(REMOVE_RECURSE "${generated}/faults")
endif()
foreach(op ${ASSAY_OPS})
  file(GLOB broken CONFIGURE_DEPENDS "${trial}/${op}/broken/*.cu" "${trial}/${op}/variants/*.cu" "${generated}/faults/${op}/*/*.cu")
  list(TRANSFORM broken REPLACE "^${PROJECT_SOURCE_DIR}/(cuda/)" "\\1")    # as an include path has it
  list(TRANSFORM broken REPLACE "^${generated}/(faults/)" "\\1")           # beside the unit
  if(broken)
    list(TRANSFORM broken REPLACE "(.+)" "#include \"\\1\"\n")
    string(CONCAT unit ${broken})
    file(CONFIGURE OUTPUT "${generated}/broken_${op}.cu" CONTENT "${unit}" @ONLY)
    list(APPEND ASSAY_BROKEN_UNITS "${generated}/broken_${op}.cu")
  endif()
endforeach()
file(GLOB ASSAY_VARIANTS "${trial}/*/variants/*.cu" "${generated}/faults/*/variants/*.cu")
list(TRANSFORM ASSAY_VARIANTS REPLACE "^.*/([^/]+)\\.cu$" "\\1")
