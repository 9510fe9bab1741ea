# SPDX-License-Identifier: Apache-2.0
# Labels of tests: cpu (unit tests and the command), simt (kernels on the simulated machine), gpu (kernels on a GPU), push (what
# `make test` leaves to a push).
enable_testing()
include(CachedTests)  # assay_cached(): a test that has passed with the same bytes is not run again

# assay_pytest(NAME FILE [ARGUMENT...]): a test by pytest, of a file below validate/tests, named without _test.py.  It is skipped
# where pytest is absent.
function(assay_pytest name file)
  add_test(NAME ${name} COMMAND sh "${PROJECT_SOURCE_DIR}/cmake/tests/pytest.sh" "${PROJECT_SOURCE_DIR}/validate/tests/${file}_test.py"
    --binaries "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS cpu SKIP_RETURN_CODE 77)
endfunction()

# Unit tests: every ROOM/tests/*_test.cpp.
file(GLOB unit_tests CONFIGURE_DEPENDS ops/tests/*_test.cpp reference/tests/*_test.cpp simt/tests/*_test.cpp validate/tests/*/*_test.cpp)
if(ASSAY_GPU)  # which brings NVIDIA's runtime
  list(FILTER unit_tests EXCLUDE REGEX "/cudart_test")
else()
  set(cudart "${PROJECT_SOURCE_DIR}/validate/backends/runtime/cudart.cpp")
  set_source_files_properties("${cudart}" PROPERTIES COMPILE_DEFINITIONS ASSAY_TREE="${PROJECT_SOURCE_DIR}/")
  set_source_files_properties("${cudart}" "${PROJECT_SOURCE_DIR}/validate/tests/worker/cudart_test.cpp"
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
add_executable(assay_tests ${unit_tests} ${cudart})
set(tests_apart ${unit_tests})  # Note: names clash in these, so they are compiled alone
list(FILTER tests_apart INCLUDE
  REGEX "/(ops|reference)/tests/|/(attention_order|fence|hopper|model|tensor_copy|tensor_file|given|wgmma|paged|pattern|ptx.*|report_page|report_suites|schema|special|suite)_test")
assay_unity(assay_tests 8 APART ${tests_apart})
target_include_directories(assay_tests PRIVATE cmake/catch simt/tests validate/tests)
target_link_libraries(assay_tests PRIVATE assay_flags assay_ops assay_command assay_known assay_hooks assay_reference assay_formula
  assay_kernels_simt assay_broken_simt assay_validate
  assay_simt assay_vendor assay_room_ops assay_room_reference assay_room_cuda assay_room_simt assay_room_include assay_room_validate
  ${ASSAY_FMT} nlohmann_json::nlohmann_json OpenMP::OpenMP_CXX ZLIB::ZLIB)
target_compile_definitions(assay_tests PRIVATE ASSAY_DATASETS_DIR="${PROJECT_SOURCE_DIR}/datasets")
target_compile_options(assay_tests PRIVATE -O1 -Wno-unknown-pragmas)
assay_precompiled(assay_tests ${ASSAY_COMMON_HEADERS} [["catch_shim.hpp"]])
target_link_libraries(assay_tests PRIVATE Eigen3::Eigen)
set_source_files_properties(reference/tests/golden_speed_test.cpp PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
if(TARGET rapidcheck)
  target_link_libraries(assay_tests PRIVATE rapidcheck)
  target_compile_definitions(assay_tests PRIVATE ASSAY_RAPIDCHECK)
endif()
if(ASSAY_GPU)
  target_link_libraries(assay_tests PRIVATE assay_kernels_gpu assay_broken_gpu)
  if(ASSAY_CUDNN_INCLUDE)
    target_include_directories(assay_tests SYSTEM PRIVATE "${ASSAY_CUDNN_INCLUDE}")
  endif()
endif()
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  target_compile_definitions(assay_tests PRIVATE ASSAY_CATCH=3)
else()
  target_compile_definitions(assay_tests PRIVATE ASSAY_CATCH=2)
endif()
if(TARGET Catch2::Catch2WithMain)  # Catch2 3, and the last ones of 2
  target_link_libraries(assay_tests PRIVATE Catch2::Catch2WithMain)
else()
  target_sources(assay_tests PRIVATE cmake/catch/catch_main.cpp)
  set_source_files_properties(cmake/catch/catch_main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # what it defines comes before the header
  target_link_libraries(assay_tests PRIVATE Catch2::Catch2)
endif()
target_compile_definitions(assay_tests PRIVATE ASSAY_HOSTILE_PLUGIN="${PROJECT_BINARY_DIR}/plugins/hostile.so")
add_test(NAME unit COMMAND assay_tests)
set_tests_properties(unit PROPERTIES LABELS cpu WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")

# What `make test` runs of the kernels is what shows most in least time (docs/ci.md); a push also runs what is labelled push.
#   simt.OP.first       sound kernels over the suite first; verdicts must equal those that a GPU gave, and every bit if the kernel
#                       uses no elementary function
#   simt.OP.witnesses   each broken kernel on the case that shows its fault (cuda/OP/faults.txt), by whose tier it must fail
#   gpu.first           the same on the GPU; a push: gpu.OP.full over full, gpu.OP.broken the broken kernels over edges
#   simt.searched       of the ops whose judge is not that of reports/ledger.tsv.gz: the suite edges must fail every broken kernel
#   simt.OP.smoke       push: the same as first over smoke
#   simt.OP.edges       push: sound kernels over edges
#   simt.OP.broken      push: the suite edges must fail every broken kernel
set(on_simt --backend simt --timeout 3600)  # seconds that only a hanging case takes, even on the slowest host
file(GLOB recorded CONFIGURE_DEPENDS reports/baselines/*/smoke.jsonl reports/baselines/*/smoke.jsonl.gz)
foreach(file ${recorded})
  execute_process(COMMAND gzip -dcf "${file}" OUTPUT_VARIABLE on_record_${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(op ${ASSAY_OPS})
  set(exactly "")
  if(op STREQUAL "linear")
    set(exactly --bit-equal)
  endif()
  foreach(suite first smoke)
    set(tests "")
    set(judged validate run ${on_simt} --op ${op} --suite ${suite} --jobs 1)
    foreach(file ${recorded})
      string(FIND "${on_record_${file}}" "\"op\":\"${op}\"" at)
      if(NOT at EQUAL -1)
        get_filename_component(device "${file}" DIRECTORY)
        get_filename_component(device "${device}" NAME)
        add_test(NAME simt.${op}.${suite}.as_on.${device} COMMAND ${judged} --same-as "${file}" ${exactly})
        list(APPEND tests simt.${op}.${suite}.as_on.${device})
      endif()
    endforeach()
    if(NOT tests)
      set(tests simt.${op}.${suite})
      add_test(NAME ${tests} COMMAND ${judged})
    endif()
    set_tests_properties(${tests} PROPERTIES LABELS simt)
    if(suite STREQUAL "first")
      assay_cached(${tests} JUDGE KERNELS ${op} FILES ${recorded})
    else()
      set_tests_properties(${tests} PROPERTIES LABELS "simt;push")
    endif()
  endforeach()
  add_test(NAME simt.${op}.witnesses COMMAND validate selfcheck ${on_simt} --op ${op} --witnesses "${PROJECT_SOURCE_DIR}/cuda" --jobs 1)
  set_tests_properties(simt.${op}.witnesses PROPERTIES LABELS simt)
  assay_cached(simt.${op}.witnesses JUDGE BROKEN ${op} FILES "${PROJECT_SOURCE_DIR}/cuda/${op}/faults.txt")
  add_test(NAME simt.${op}.edges COMMAND validate run ${on_simt} --op ${op} --suite edges --jobs 1)
  add_test(NAME simt.${op}.broken COMMAND validate selfcheck ${on_simt} --op ${op} --suite edges --jobs 1)
  set_tests_properties(simt.${op}.edges simt.${op}.broken PROPERTIES LABELS "simt;push")
  add_test(NAME gpu.${op}.full COMMAND validate run --backend cuda --skip-exit 77 --op ${op} --suite full)
  add_test(NAME gpu.${op}.broken COMMAND validate selfcheck --backend cuda --skip-exit 77 --op ${op} --suite edges)
  set_tests_properties(gpu.${op}.full gpu.${op}.broken PROPERTIES LABELS "gpu;push" SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endforeach()
add_test(NAME gpu.first COMMAND validate run --backend cuda --skip-exit 77 --suite first)
set_tests_properties(gpu.first PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL ON)
add_test(NAME simt.searched COMMAND validate selfcheck ${on_simt} --suite edges --unless "${PROJECT_SOURCE_DIR}/reports/ledger.tsv.gz")
set_tests_properties(simt.searched PROPERTIES LABELS simt)

# Single instructions must also match recorded GPU results, bit for bit; of each form of PTX an eighth of the results.
file(GLOB recorded CONFIGURE_DEPENDS reports/baselines/*/probes.jsonl reports/baselines/*/ptx_probes.jsonl.gz)
foreach(file ${recorded})
  get_filename_component(device "${file}" DIRECTORY)
  get_filename_component(device "${device}" NAME)
  set(probes probes)
  set(forms "")
  if(file MATCHES "ptx_probes")
    set(probes ptx_probes)
    set(forms --ptx --digests 1)
  endif()
  add_test(NAME simt.${probes}.as_on.${device} COMMAND validate probe --backend simt ${forms} --against "${file}")
  set_tests_properties(simt.${probes}.as_on.${device} PROPERTIES LABELS simt)
endforeach()
add_test(NAME gpu.probes COMMAND validate probe --backend cuda --skip-exit 77 --against simt)
set_tests_properties(gpu.probes PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL ON)
if(CMAKE_CUDA_COMPILER)
  add_executable(casts_gpu ops/tests/casts_gpu.cu)
  target_compile_options(casts_gpu PRIVATE --expt-relaxed-constexpr)
  target_link_libraries(casts_gpu PRIVATE assay_room_ops CUDA::cudart_static)
  add_test(NAME gpu.casts COMMAND casts_gpu)
  set_tests_properties(gpu.casts PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endif()

# With --watch, no correct kernel has a race, reads uninitialised memory or leaves an output unwritten.  If the compiler can
# instrument accesses, the set `watch` also shows that none bypasses ld and st.
set(watching validate run)
if(TARGET set_watch)
  list(APPEND watching --set watch)
  add_executable(observe_tests simt/tests/observed/observe_test.cpp)
  target_compile_options(observe_tests PRIVATE ${ASSAY_OBSERVE_FLAGS})
  target_include_directories(observe_tests PRIVATE simt/tests)
  target_link_libraries(observe_tests PRIVATE assay_flags assay_simt assay_observe)
  add_test(NAME simt.observe COMMAND observe_tests)
  set_tests_properties(simt.observe PROPERTIES LABELS cpu)
endif()
foreach(op ${ASSAY_OPS})
  # Note: a kernel's accesses are those of its template, which has the same widths in bf16 as in f16; a push asks that too.
  add_test(NAME watch.${op} COMMAND ${watching} ${on_simt} --op ${op} --suite watch --watch --dtype f16,f32 --jobs 1)
  set_tests_properties(watch.${op} PROPERTIES LABELS simt)
  assay_cached(watch.${op} JUDGE OBSERVED ${op})
endforeach()
add_test(NAME watch.bf16 COMMAND ${watching} ${on_simt} --suite watch --watch --dtype bf16 --jobs 1)
set_tests_properties(watch.bf16 PROPERTIES LABELS "simt;push")

# False alarms: no correct kernel may fail on random shapes and values.
add_test(NAME simt.random COMMAND validate run ${on_simt} --suite random --count 20 --seed 1 --jobs 1)
set_tests_properties(simt.random PROPERTIES LABELS "simt;push")

# The same for variants, correct kernels that compute in another way.
set(variants ${ASSAY_VARIANTS})
list(REMOVE_DUPLICATES variants)
list(JOIN variants "," variants)
foreach(suite smoke random)
  set(count "")
  if(suite STREQUAL "random")
    set(count --count 30)
  endif()
  add_test(NAME simt.variants.${suite}
    COMMAND validate run --set trial ${on_simt} --kernel ${variants} --suite ${suite} ${count} --seed 6)
  set_tests_properties(simt.variants.${suite} PROPERTIES LABELS "simt;push")
endforeach()

# The faults are not trivial: every broken kernel passes some smoke case or fails by T4 alone, and half of them pass a conventional test (allclose).
add_test(NAME simt.corpus COMMAND validate selfcheck ${on_simt} --suite smoke --corpus)
set_tests_properties(simt.corpus PROPERTIES LABELS "simt;push")

# --- The command with wrong input, signals and hostile kernels --------------------------------------------------------
set(hostile ${ASSAY_HOSTILE})
list(FILTER hostile EXCLUDE REGEX "/gpu_[^/]*$")
set_source_files_properties(${hostile} PROPERTIES LANGUAGE CXX)
add_library(assay_hostile_simt OBJECT ${hostile})
set_target_properties(assay_hostile_simt PROPERTIES UNITY_BUILD ON)  # each kernel has its own namespace
target_link_libraries(assay_hostile_simt PRIVATE assay_flags assay_simt assay_room_ops assay_room_cuda assay_room_validate)
assay_set(hostile assay_kernels_simt assay_hostile_simt)
if(ASSAY_GPU)
  target_link_libraries(set_hostile PRIVATE assay_kernels_gpu assay_hostile_gpu)
endif()
add_library(hostile_plugin MODULE validate/tests/hostile/plugin.cpp)
set_target_properties(hostile_plugin PROPERTIES PREFIX "" OUTPUT_NAME hostile LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/plugins")
target_link_libraries(hostile_plugin PRIVATE assay_room_include)
add_dependencies(assay_tests hostile_plugin)
assay_exported_kernels(exported_plugin "${PROJECT_BINARY_DIR}/plugins" exported validate/tests/worker/exported_plugin.cpp)
add_dependencies(assay_tests exported_plugin)
assay_pytest(exported worker/exported --plugins "${PROJECT_BINARY_DIR}/plugins")
# One call of the system or the allocator fails in each of many small runs.  All of them: faults_test.py without --sites.
if(NOT ASSAY_ASAN AND NOT ASSAY_TSAN)  # whose allocator cannot be replaced
  add_library(faults MODULE validate/tests/faults/interpose.cpp)
  set_target_properties(faults PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/plugins")
  target_link_libraries(faults PRIVATE ${CMAKE_DL_LIBS})
  set(from "")
  if(ASSAY_GPU)  # whose runtime registers kernels before main(), and takes what malloc gives without a look
    set(from --from-main)
  endif()
  add_test(NAME faults COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/validate/tests/faults/faults_test.py"
    "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "$<TARGET_FILE:faults>" --sites 0.01 --calls 60 ${from})
  assay_pytest(memory command/memory)
  set_tests_properties(faults memory PROPERTIES LABELS cpu RESOURCE_LOCK hostile)
endif()
find_program(c_compiler NAMES gcc cc NO_CACHE)
if(c_compiler)  # of a plugin's author
  assay_pytest(door worker/door --plugins "${PROJECT_BINARY_DIR}/plugins" --compiler "${c_compiler}")
  set_tests_properties(door PROPERTIES RESOURCE_LOCK hostile)
endif()
if(c_compiler AND NOT ASSAY_ASAN)  # which needs more address space than this test leaves, and refuses a library preloaded before its own
  assay_pytest(machine command/machine --plugins "${PROJECT_BINARY_DIR}/plugins" --compiler "${c_compiler}")
  set_tests_properties(machine PROPERTIES RESOURCE_LOCK hostile)
endif()
set(hostile_test worker/hostile)
if(ASSAY_ASAN)  # which itself ends a process that corrupts its heap, overflows its stack or takes all memory
  set(hostile_test "")
endif()
set(further_of_command "${PROJECT_SOURCE_DIR}/validate/tests/command/usage_test.py" "${PROJECT_SOURCE_DIR}/validate/tests/command/console_test.py")
foreach(test model/model command/command command/records command/outputs command/input command/files command/kills command/signals
    ${hostile_test} worker/sets worker/ptx worker/cuda_source command/probe)
  get_filename_component(name ${test} NAME)
  assay_pytest(${name} ${test} ${further_of_${name}})
  set_tests_properties(${name} PROPERTIES RESOURCE_LOCK hostile)  # they count processes
endforeach()
set(nvcc_build "")
if(TARGET ptx_kernels)
  set(nvcc_build --ptx-build "${CMAKE_COMMAND}" "${PROJECT_BINARY_DIR}")
endif()
assay_pytest(ptx_backend worker/ptx_backend ${nvcc_build})
foreach(op ${ASSAY_OPS})
  add_test(NAME simt.${op}.typed COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/validate/tests/command/typed_test.py"
    "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/validate" ${op})
  set_tests_properties(simt.${op}.typed PROPERTIES LABELS simt)
  assay_cached(simt.${op}.typed JUDGE KERNELS ${op} FILES "${PROJECT_SOURCE_DIR}/validate/tests/command/typed_test.py")
endforeach()
add_test(NAME hostile_files COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/validate/tests/command/hostile_files_test.py"
  "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/validate" "${PROJECT_SOURCE_DIR}")
set_tests_properties(hostile_files PROPERTIES LABELS cpu)
add_test(NAME readers COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/validate/tests/command/readers_test.py"
  "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/validate" "${PROJECT_SOURCE_DIR}")
set_tests_properties(readers PROPERTIES LABELS cpu)
add_test(NAME attacks COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/validate/tests/worker/attacks_test.py"
  "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
set_tests_properties(attacks PROPERTIES LABELS cpu)
add_test(NAME budgets COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/validate/tests/worker/budgets_test.py"
  "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
set_tests_properties(budgets PROPERTIES LABELS "cpu;push" RUN_SERIAL ON)
if(ASSAY_GPU)
  set(own_plugin "${PROJECT_SOURCE_DIR}/validate/tests/worker/own_plugin.cu")
  set_source_files_properties("${own_plugin}" PROPERTIES LANGUAGE CUDA)
  assay_exported_kernels(own_plugin "${PROJECT_BINARY_DIR}/plugins" own "${own_plugin}")
  target_compile_definitions(own_plugin PRIVATE ASSAY_GPU)
  target_compile_options(own_plugin PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo --expt-relaxed-constexpr>)
  target_link_libraries(own_plugin PRIVATE assay_room_cuda CUDA::cudart_static)
  assay_pytest(gpu.own_plugin worker/own_plugin --plugins "${PROJECT_BINARY_DIR}/plugins")
  set_tests_properties(gpu.own_plugin PROPERTIES LABELS gpu RUN_SERIAL ON)
  assay_pytest(gpu.hostile worker/hostile --hostile-on cuda)
  set_tests_properties(gpu.hostile PROPERTIES LABELS gpu RUN_SERIAL ON)
endif()
assay_pytest(compare command/compare)
assay_pytest(report report/report)
assay_pytest(captured problem/captured)
assay_pytest(own_op opfile/routes)
assay_pytest(pytorch_rows bench/pytorch_rows)
add_test(NAME tree.trials COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/reports/trial/pack.py" --check)
set_tests_properties(tree.trials PROPERTIES LABELS cpu)
assay_pytest(record_scripts records/record_scripts)
# The Python package, in a virtual environment that the first of these makes.
file(GLOB python_tests CONFIGURE_DEPENDS python/tests/test_*.py)
if(ASSAY_ASAN)  # whose libraries an interpreter without it cannot load
  list(FILTER python_tests EXCLUDE REGEX "/test_(action|kernels|machine|wheel)[.]py$")
endif()
foreach(test ${python_tests})
  string(REGEX REPLACE ".*/test_(.*)\\.py" "python.\\1" name "${test}")
  add_test(NAME ${name} COMMAND bash "${PROJECT_SOURCE_DIR}/python/tests/in_venv.sh" "${PROJECT_BINARY_DIR}" "${test}")
  set_tests_properties(${name} PROPERTIES LABELS cpu SKIP_RETURN_CODE 77)
endforeach()
# ----------------------------------------------------------------------------------------------------------------------

add_subdirectory(validate/tests/fuzz)

# --- Checks of the tree itself: scripts in cmake/tests ----------------------------------------------------------------
set(scripts "${PROJECT_SOURCE_DIR}/cmake/tests")
set(machine_flags "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(machine_flags -march=x86-64-v3)
endif()
get_target_property(eigen Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
set(headers "${Python3_EXECUTABLE}" "${scripts}/headers.py")
set(of_tree "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${eigen}" "${CMAKE_CXX_COMPILER}" "${machine_flags}")
add_test(NAME tree.headers COMMAND ${headers} ${of_tree})
add_test(NAME tree.headers.all COMMAND ${headers} --all ${of_tree})
add_test(NAME tree.headers.self COMMAND ${headers} --self-test "${CMAKE_CXX_COMPILER}")
set_tests_properties(tree.headers tree.headers.all tree.headers.self PROPERTIES LABELS cpu)
set_tests_properties(tree.headers.all PROPERTIES LABELS "cpu;push")
set_tests_properties(tree.headers tree.headers.all PROPERTIES PROCESSORS 2)
# Tracked files are formatted, and each statement has a line of its own.
add_test(NAME tree.format COMMAND "${Python3_EXECUTABLE}" "${scripts}/format.py" --check "${PROJECT_SOURCE_DIR}")
add_test(NAME tree.format.self COMMAND "${Python3_EXECUTABLE}" "${scripts}/format.py" --self-test)
set_tests_properties(tree.format tree.format.self PROPERTIES LABELS cpu SKIP_RETURN_CODE 77)
add_test(NAME tree.faults COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/faults.py" --check)
add_test(NAME tree.faults.self COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/faults.py" --self-test)
foreach(script arrows kernel_rules sizes citations)
  add_test(NAME tree.${script} COMMAND bash "${scripts}/${script}.sh" "${PROJECT_SOURCE_DIR}")
  add_test(NAME tree.${script}.self COMMAND bash "${scripts}/${script}.sh" --self-test)
endforeach()
if(ASSAY_NVCC)  # configures the tree for a GPU, and compiles nothing
  set(command "${Python3_EXECUTABLE}" "${scripts}/cuda_headers.py")
  set(of_tree "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/cuda_headers" "${CMAKE_COMMAND}" -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -DCMAKE_CUDA_COMPILER=${ASSAY_NVCC})
  add_test(NAME tree.cuda_headers COMMAND ${command} ${of_tree})
  add_test(NAME tree.cuda_headers.self COMMAND ${command} --self-test ${of_tree})
  set_tests_properties(tree.cuda_headers tree.cuda_headers.self PROPERTIES LABELS cpu RESOURCE_LOCK cuda_headers)
endif()
set(gnu "")  # whose errors docs/device-words.md quotes
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(gnu "${CMAKE_CXX_COMPILER}")
endif()
add_test(NAME tree.docs COMMAND bash "${scripts}/docs.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${gnu}")
add_test(NAME tree.docs.self COMMAND bash "${scripts}/docs.sh" --self-test "${gnu}")
# Note: it only asks, and must be refused before anything is looked for.
add_test(NAME tree.linux COMMAND "${CMAKE_COMMAND}" --fresh -DCMAKE_SYSTEM_NAME=FreeBSD -S "${PROJECT_SOURCE_DIR}" -B "${PROJECT_BINARY_DIR}/elsewhere")
set_tests_properties(tree.linux PROPERTIES LABELS cpu PASS_REGULAR_EXPRESSION "Assay needs Linux .*, and this is FreeBSD")
add_test(NAME tree.package COMMAND bash "${scripts}/package.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_COMMAND}"
  -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DASSAY_CUDA=${ASSAY_GPU} "-DCMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES}")
add_test(NAME tree.cached COMMAND "${Python3_EXECUTABLE}" "${scripts}/cached_test.py" "${CMAKE_COMMAND}")
set_tests_properties(tree.cached PROPERTIES LABELS cpu)
if(CMAKE_GENERATOR STREQUAL "Unix Makefiles")
  add_test(NAME tree.same_bytes COMMAND bash "${scripts}/same_bytes.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_COMMAND}"
    -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DASSAY_CUDA=OFF -DASSAY_TESTS=OFF
    -DASSAY_UNITY=${ASSAY_UNITY} -DASSAY_ASAN=${ASSAY_ASAN})
  set_tests_properties(tree.same_bytes PROPERTIES LABELS cpu)
endif()
# Some ops on AArch64: built for it and judged there by an emulator, beside this machine's verdicts.
if(NOT ASSAY_ASAN AND NOT ASSAY_TSAN)
  add_test(NAME aarch64 COMMAND "${Python3_EXECUTABLE}" "${scripts}/aarch64.py" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}"
    "${CMAKE_COMMAND}" add softmax rmsnorm linear attention_forward)
  set_tests_properties(aarch64 PROPERTIES LABELS "simt;push" SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endif()
add_test(NAME aarch64.self COMMAND "${Python3_EXECUTABLE}" "${scripts}/aarch64.py" --self-test)
set_tests_properties(aarch64.self PROPERTIES LABELS cpu)
add_test(NAME tree.notices.self COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/notices.py" --self-test)
set_tests_properties(tree.notices.self PROPERTIES LABELS cpu)
add_test(NAME tree.install COMMAND bash "${scripts}/install.sh" "${PROJECT_BINARY_DIR}" "${CMAKE_COMMAND}")
add_test(NAME tree.release COMMAND bash "${scripts}/release.sh" "${PROJECT_BINARY_DIR}" "${CMAKE_CPACK_COMMAND}")
# Adds a kernel and an op to a copy of the tree.  The copy reuses objects of this build, so it is configured the same way.
add_test(NAME tree.add_a_room COMMAND bash "${scripts}/add_a_room.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_COMMAND}"
  -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} "-DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}"
  -DASSAY_CUDA=${ASSAY_GPU} "-DCMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES}" -DASSAY_ASAN=${ASSAY_ASAN}
  -DASSAY_PORTABLE=${ASSAY_PORTABLE} -DASSAY_UNITY=${ASSAY_UNITY} -DASSAY_SIMT_UCONTEXT=${ASSAY_SIMT_UCONTEXT})

# Records of a run must match reports/schema.json.
set(ASSAY_RECORDS "${PROJECT_BINARY_DIR}/records")
file(MAKE_DIRECTORY "${ASSAY_RECORDS}")
add_test(NAME records.run COMMAND validate run ${on_simt} --suite sanitize --sectors --json "${ASSAY_RECORDS}/run.jsonl")
add_test(NAME records.bench COMMAND validate bench --backend simt --shape "rows=9 cols=72" --op layernorm_residual
  --json "${ASSAY_RECORDS}/bench.jsonl")
add_test(NAME records.memory COMMAND validate bench --backend simt --memory --shape "rows=9 cols=72" --op layernorm_residual
  --json "${ASSAY_RECORDS}/memory.jsonl")
add_test(NAME records.broken COMMAND validate selfcheck ${on_simt} --witnesses "${PROJECT_SOURCE_DIR}/cuda" --json "${ASSAY_RECORDS}/broken.jsonl")
add_test(NAME records.plugin COMMAND validate run --backend host --plugin "${PROJECT_BINARY_DIR}/plugins/hostile.so" --kernel sound
  --dtype f32 --suite sanitize --json "${ASSAY_RECORDS}/plugin.jsonl")
add_test(NAME records.probe COMMAND validate probe --backend simt -k mma_m16n8k8 --json "${ASSAY_RECORDS}/probe.jsonl")
# The pages' tables and chart are made from the records.
add_test(NAME tree.results COMMAND bash "${scripts}/results.sh" "${PROJECT_SOURCE_DIR}")
set_tests_properties(tree.results PROPERTIES LABELS cpu SKIP_RETURN_CODE 77)
# Converts a table of ncu, and rejects other input by name.
add_test(NAME tree.profile COMMAND bash "${scripts}/profile.sh" "${PROJECT_SOURCE_DIR}")
add_test(NAME records.profile COMMAND bash "${scripts}/profile.sh" "${PROJECT_SOURCE_DIR}" "${ASSAY_RECORDS}/profile.jsonl")
set_tests_properties(tree.profile records.profile PROPERTIES LABELS cpu SKIP_RETURN_CODE 77)
add_test(NAME records.schema COMMAND assay_tests "[recorded]")
set_tests_properties(records.run records.bench records.memory records.broken records.plugin records.probe records.profile
  PROPERTIES FIXTURES_SETUP records)
set_tests_properties(records.schema PROPERTIES FIXTURES_REQUIRED records ENVIRONMENT "ASSAY_RECORDS=${ASSAY_RECORDS}")

set_tests_properties(tree.faults tree.faults.self tree.arrows tree.arrows.self tree.kernel_rules tree.kernel_rules.self
  tree.sizes tree.sizes.self tree.citations tree.citations.self tree.docs tree.docs.self tree.install tree.release tree.package tree.add_a_room
  records.run records.bench records.memory records.broken records.plugin records.probe records.schema PROPERTIES LABELS cpu)

# What the other tests depend on: the whole program, and what they read of the tree.
set(read_by_tests "")
foreach(read validate/tests examples include python docs README.md LICENSE reports/schema.json reports/templates reports/inference cmake/tests
    cmake/Install.cmake cmake/Options.cmake cmake/notices.py cmake/portable)
  list(APPEND read_by_tests "${PROJECT_SOURCE_DIR}/${read}")
endforeach()
file(GLOB scripts_of_reports CONFIGURE_DEPENDS reports/*.py)
list(APPEND read_by_tests ${scripts_of_reports})
assay_cached(unit JUDGE TESTS KERNELS all BROKEN all FILES ${read_by_tests})
set(of_program command records outputs input files kills signals hostile sets ptx cuda_source probe faults memory door machine exported
  hostile_files attacks compare report captured pytorch_rows record_scripts records.run records.bench records.memory
  records.broken records.plugin records.probe tree.install tree.release simt.observe)
get_property(defined DIRECTORY PROPERTY TESTS)
foreach(test ${defined})
  if(test IN_LIST of_program OR test MATCHES "^(python[.]|simt[.](ptx_)?probes)")
    assay_cached(${test} JUDGE KERNELS probe USED FILES ${read_by_tests} "${PROJECT_SOURCE_DIR}/reports/baselines" "${PROJECT_SOURCE_DIR}/cuda/core")
  elseif(test MATCHES "^(model|ptx_backend)$")
    assay_cached(${test} JUDGE KERNELS all FILES ${read_by_tests} "${PROJECT_SOURCE_DIR}/cuda")
  endif()
endforeach()
# Those of the tree depend on sources, some on no kernel or on few.
foreach(room cmake datasets docs examples include ops python reference reports simt validate README.md CONTRIBUTING.md SECURITY.md cuda/core)
  list(APPEND tree "${PROJECT_SOURCE_DIR}/${room}")
endforeach()
set(kernels_of_package "${PROJECT_SOURCE_DIR}/cuda/softmax" "${PROJECT_SOURCE_DIR}/cuda/layernorm" "${PROJECT_SOURCE_DIR}/cuda/linear")
file(GLOB_RECURSE headers_and_sources CONFIGURE_DEPENDS ops/*.hpp reference/*.hpp reference/*.cpp simt/*.hpp simt/*.cpp validate/*.hpp
  validate/*.cpp cuda/*.cuh cuda/*.hpp include/*.h)
foreach(test tree.docs tree.results tree.cuda_headers tree.package tree.add_a_room tree.same_bytes tree.headers tree.format)
  set(of_test ${tree} "${PROJECT_SOURCE_DIR}/cuda")
  if(test MATCHES "package|same_bytes")
    set(of_test ${tree} ${kernels_of_package})
  elseif(test MATCHES "add_a_room")
    set(of_test ${tree})
  elseif(test MATCHES "format")
    list(APPEND of_test "${PROJECT_SOURCE_DIR}/.ci" "${PROJECT_SOURCE_DIR}/.clang-format")
  elseif(test MATCHES "[.]headers")
    set(of_test ${headers_and_sources} "${PROJECT_SOURCE_DIR}/cmake")
  endif()
  if(TEST ${test})
    assay_cached(${test} FILES ${of_test})
  endif()
endforeach()

# Tests share the processors: idle OpenMP threads must not spin.
get_property(all_tests DIRECTORY PROPERTY TESTS)
set_property(TEST ${all_tests} APPEND PROPERTY ENVIRONMENT OMP_WAIT_POLICY=passive)
if(ASSAY_ASAN)  # A signal of a kernel ends its worker, as without sanitizers.
  set_property(TEST ${all_tests} APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0
    "LSAN_OPTIONS=suppressions='${PROJECT_SOURCE_DIR}/cmake/lsan.supp':print_suppressions=0")
endif()
# Only for hanging tests: no verdict depends on time, so the limit suits the slowest host.
set_property(TEST ${all_tests} PROPERTY TIMEOUT 7200)

# The longest tests start first, so that no processor idles at the end; COST is their time in seconds.  Tests that use both
# processors start before all others.
foreach(line "^tree[.]headers$ 1000" "^unit$ 150" "^command$|^probe$|^tree[.]package$ 80" "(ffn_gelu|attention_(forward|backward))[.]edges$ 70" "[.]edges$|[.]random$ 40"
    "^simt[.]corpus$|^door$|^hostile$|^simt[.]variants|^tree[.]add_a_room$ 50" "^simt[.](attention|ffn|transformer).*[.]smoke 20" "[.](smoke|broken) 12")
  string(REGEX MATCH "^(.*) ([0-9]+)$" found "${line}")
  set(these ${all_tests})
  list(FILTER these INCLUDE REGEX "${CMAKE_MATCH_1}")
  list(REMOVE_ITEM all_tests ${these} "")
  set_tests_properties(${these} PROPERTIES COST ${CMAKE_MATCH_2})
endforeach()
