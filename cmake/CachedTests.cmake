# SPDX-License-Identifier: Apache-2.0
# assay_cached(TEST... [JUDGE] [KERNELS op...] [BROKEN op...] [OBSERVED op...] [USED] [TESTS] [FILES file-or-folder...])
# says on which bytes tests depend, so that `make test` leaves out those that have passed with the same bytes
# (cmake/tests/cached.py).  A test of which nothing is said always runs.
#   JUDGE      all that `validate` is made of but kernels, with the datasets
#   KERNELS    the kernels of these ops on simt; BROKEN their broken kernels; OBSERVED as the set watch has them; `all`: of all ops
#   USED       the kernels of the ops that the test judged when it last ran (note_used() in validate/base/used.hpp)
#   TESTS      the objects of the unit tests
# Sets `out` to the objects of a library that hold kernels of an op.
function(assay_objects_of out op library)
  set(objects "$<TARGET_OBJECTS:${library}>")
  if(NOT op STREQUAL "all" AND NOT op IN_LIST ASSAY_COMPOSITE_OPS)  # which launches kernels of others
    # A unit of the op, a file of its kernels, or all its broken ones.
    set(objects "$<FILTER:${objects},INCLUDE,/(unity_${op}_cxx|${op}/[^/]*[.]cu|broken_${op}[.]cu)[.]>")
  endif()
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()

foreach(op ${ASSAY_OPS})
  assay_objects_of(kernels ${op} assay_kernels_simt)
  assay_objects_of(broken ${op} assay_broken_simt)
  set(objects "$<FILTER:${kernels};${broken},EXCLUDE,/cmake_pch>")
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/depends/kernels/${op}" CONTENT "$<JOIN:${objects},\n>\n")
endforeach()
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/depends/used")

function(assay_cached)
  cmake_parse_arguments(PARSE_ARGV 0 of "JUDGE;TESTS;USED" "" "KERNELS;BROKEN;OBSERVED;FILES")
  set(depends ${of_FILES})
  if(of_JUDGE)
    foreach(library assay_validate assay_validate_texts assay_hooks assay_reference assay_formula assay_simt assay_simt_ptx assay_ops assay_worker)
      list(APPEND depends "$<TARGET_OBJECTS:${library}>")
    endforeach()
    # Note: of what changes at every commit no verdict depends.
    list(APPEND depends "$<FILTER:$<TARGET_OBJECTS:assay_command>,EXCLUDE,/version[.]cpp>"
      "${PROJECT_SOURCE_DIR}/validate/command/main.cpp" "${PROJECT_SOURCE_DIR}/datasets")
  endif()
  if(of_TESTS)
    list(APPEND depends "$<TARGET_OBJECTS:assay_tests>")
    if(ASSAY_GPU)
      list(APPEND depends "$<TARGET_OBJECTS:assay_kernels_gpu>" "$<TARGET_OBJECTS:assay_broken_gpu>")
    endif()
  endif()
  foreach(kind KERNELS:assay_kernels_simt BROKEN:assay_broken_simt OBSERVED:assay_kernels_observed)
    string(REPLACE ":" ";" kind ${kind})
    list(POP_FRONT kind word)
    if(NOT TARGET ${kind})
      continue()
    endif()
    foreach(op ${of_${word}})
      assay_objects_of(objects ${op} ${kind})
      list(APPEND depends "${objects}")
    endforeach()
  endforeach()
  if(of_USED)
    list(APPEND depends @used)
    foreach(test ${of_UNPARSED_ARGUMENTS})
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "ASSAY_USED=${PROJECT_BINARY_DIR}/depends/used/${test}")
    endforeach()
  endif()
  set(depends "$<FILTER:${depends},EXCLUDE,/cmake_pch>")  # precompiled headers
  foreach(test ${of_UNPARSED_ARGUMENTS})
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/depends/${test}" CONTENT "$<JOIN:${depends},\n>\n")
  endforeach()
endfunction()
