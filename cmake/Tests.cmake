# SPDX-License-Identifier: Apache-2.0
# Labels: cpu (unit tests and the command), simt (kernels on the simulated machine), gpu (the same on a GPU).
enable_testing()

# Unit tests: every ROOM/tests/*_test.cpp.
file(GLOB unit_tests CONFIGURE_DEPENDS ops/tests/*_test.cpp reference/tests/*_test.cpp simt/tests/*_test.cpp validate/tests/*_test.cpp)
add_executable(assay_tests ${unit_tests} "${PROJECT_BINARY_DIR}/generated/registry_trial.cpp")
target_include_directories(assay_tests PRIVATE cmake/catch simt/tests validate/tests)
target_link_libraries(assay_tests PRIVATE assay_flags assay_hooks assay_reference assay_kernels_simt assay_broken_simt assay_validate
  assay_simt assay_room_ops assay_room_reference assay_room_cuda assay_room_simt assay_room_validate
  ${ASSAY_FMT} nlohmann_json::nlohmann_json OpenMP::OpenMP_CXX)
target_compile_definitions(assay_tests PRIVATE ASSAY_DATASETS_DIR="${PROJECT_SOURCE_DIR}/datasets")
target_compile_options(assay_tests PRIVATE -O1)
if(ASSAY_GPU)
  target_link_libraries(assay_tests PRIVATE assay_kernels_gpu assay_broken_gpu)
endif()
if(TARGET Catch2::Catch2WithMain)  # Catch2 3
  target_link_libraries(assay_tests PRIVATE Catch2::Catch2WithMain)
else()
  target_sources(assay_tests PRIVATE cmake/catch/catch_main.cpp)
  target_link_libraries(assay_tests PRIVATE Catch2::Catch2)
endif()
add_test(NAME unit COMMAND assay_tests)
set_tests_properties(unit PROPERTIES LABELS cpu WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")

# Conformance: every kernel over every suite that fits a CPU; the same over the full suite where there is a GPU.
foreach(kernel ${ASSAY_KERNELS})
  string(REGEX REPLACE "^.*/cuda/([^/]+)/([^/]+)\\.cu$" "\\1;\\2" parts "${kernel}")
  list(GET parts 0 op)
  list(GET parts 1 name)
  foreach(suite smoke edges models)
    add_test(NAME simt.${op}.${name}.${suite}
      COMMAND validate run --backend simt --op ${op} --kernel ${name} --suite ${suite} --jobs 1)
    set_tests_properties(simt.${op}.${name}.${suite} PROPERTIES LABELS simt)
  endforeach()
  add_test(NAME gpu.${op}.${name}.full
    COMMAND validate run --backend cuda --skip-exit 77 --op ${op} --kernel ${name} --suite full)
  set_tests_properties(gpu.${op}.${name}.full PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endforeach()

# False alarms: no sound kernel may be failed on shapes and numbers that nobody chose.
foreach(seed 1 2 3 4 5)
  add_test(NAME simt.random.seed_${seed} COMMAND validate run --backend simt --suite random --count 200 --seed ${seed} --jobs 1)
  set_tests_properties(simt.random.seed_${seed} PROPERTIES LABELS simt)
endforeach()

# The judge on trial: every broken kernel must be failed.
foreach(op ${ASSAY_OPS})
  add_test(NAME simt.${op}.broken COMMAND validate-trial selfcheck --backend simt --op ${op} --suite edges)
  set_tests_properties(simt.${op}.broken PROPERTIES LABELS simt)
  add_test(NAME gpu.${op}.broken COMMAND validate-trial selfcheck --backend cuda --skip-exit 77 --op ${op} --suite edges)
  set_tests_properties(gpu.${op}.broken PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endforeach()

# --- The command under a hostile user, and under hostile kernels ------------------------------------------------------
set_source_files_properties(${ASSAY_HOSTILE} PROPERTIES LANGUAGE CXX)
add_library(assay_hostile_simt OBJECT ${ASSAY_HOSTILE})
target_link_libraries(assay_hostile_simt PRIVATE assay_flags assay_simt assay_room_ops assay_room_cuda assay_room_validate)
assay_executable(validate-hostile registry_hostile.cpp assay_hostile_simt)
foreach(name command signals hostile)
  add_test(NAME ${name} COMMAND bash "${PROJECT_SOURCE_DIR}/validate/tests/${name}_test.sh" "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  set_tests_properties(${name} PROPERTIES LABELS cpu TIMEOUT 300 RESOURCE_LOCK hostile)  # they count processes
endforeach()
# ----------------------------------------------------------------------------------------------------------------------
