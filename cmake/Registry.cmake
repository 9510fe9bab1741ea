# SPDX-License-Identifier: Apache-2.0
# Generates the tables of ops and kernels from file names:
#   ops/OP.hpp, reference/OP.cpp, cuda/OP/KERNEL.cu, cuda/OP/broken/KERNEL.cu, and validate/ops/OP.cpp if it exists.
# cuda/OP/variants/KERNEL.cu are correct kernels that compute otherwise, to test for false alarms; only in registry_trial.cpp.
# ASSAY_TRIAL is the folder whose OP/broken and OP/variants a trial judges: cuda, or another folder laid out alike.
# A kernel baseline_VENDOR calls that vendor's library: it runs on a GPU only, and is listed only if ASSAY_VENDORS has the vendor;
# baseline_eager needs cublaslt.
# Sets ASSAY_OPS, ASSAY_KERNELS, ASSAY_BASELINES, ASSAY_BROKEN and ASSAY_HOSTILE (files).  Writes registry.cpp (correct kernels),
# registry_trial.cpp (broken ones too) and registry_hostile.cpp (correct ones and the tests' validate/tests/hostile/OP/KERNEL.cu,
# of which gpu_KERNEL runs on a GPU only).
file(GLOB contracts RELATIVE "${PROJECT_SOURCE_DIR}/ops" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/ops/*.hpp")
file(GLOB ASSAY_KERNELS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cuda/*/*.cu")
set(ASSAY_BASELINES ${ASSAY_KERNELS})
set(ASSAY_TRIAL "cuda" CACHE STRING "Folder of the kernels to put the judge on trial with, relative to the source folder or absolute")
get_filename_component(trial "${ASSAY_TRIAL}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
list(JOIN ASSAY_VENDORS "|" vendors)
if("cublaslt" IN_LIST ASSAY_VENDORS)
  string(APPEND vendors "|eager")
endif()
list(FILTER ASSAY_BASELINES INCLUDE REGEX "/baseline_(${vendors})(_[^/]*)?\\.cu$")
list(FILTER ASSAY_KERNELS EXCLUDE REGEX "/baseline_[^/]*$")
file(GLOB ASSAY_BROKEN CONFIGURE_DEPENDS "${trial}/*/broken/*.cu")
file(GLOB ASSAY_VARIANTS CONFIGURE_DEPENDS "${trial}/*/variants/*.cu")
file(GLOB ASSAY_HOSTILE CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/validate/tests/hostile/*/*.cu")
file(GLOB ASSAY_HOOKS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/validate/ops/*.cpp")
file(GLOB goldens CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/reference/*.cpp")  # reruns CMake if a golden is added or removed
list(TRANSFORM contracts REPLACE "\\.hpp$" "" OUTPUT_VARIABLE ASSAY_OPS)
set(generated "${PROJECT_BINARY_DIR}/generated")

# Sets `out` to the head comment of a file, without its licence line, as a C++ raw string.
function(assay_head_comment file out)
  file(READ "${file}" text LIMIT 4096)
  string(REGEX REPLACE "^// SPDX[^\n]*\n" "" text "${text}")
  string(REGEX MATCH "^(//[^\n]*\n)+" comment "${text}")
  string(REGEX REPLACE "(^|\n)// ?" "\\1" comment "${comment}")
  set(${out} "R\"~(${comment})~\"" PARENT_SCOPE)
endfunction()

# Appends a kernel to the caller's `declarations` and `kernel_entries`, for the flavours in ARGN; the first one has the traits.
function(assay_declare_kernel op name file broken)
  set(flavours ${ARGN})
  if(name MATCHES "^baseline_")
    if(NOT file IN_LIST ASSAY_BASELINES)
      return()
    endif()
    set(flavours on_gpu)
  elseif(name MATCHES "^gpu_")
    if(NOT ASSAY_GPU)
      return()
    endif()
    set(flavours on_gpu)
  endif()
  list(GET flavours 0 first)
  assay_head_comment("${file}" about)
  foreach(flavour ${flavours})
    string(APPEND d "namespace ${flavour}::${op}_room::${name} {\nextern const KernelTraits<${op}> traits;\n"
                    "void run(const ${op}::Args&, const Launch&);\n}\n")
    string(APPEND launchers "    k.${flavour} = erased_run<${op}, ${flavour}::${op}_room::${name}::run>;\n")
  endforeach()
  set(declarations "${declarations}${d}" PARENT_SCOPE)
  set(kernel_entries "${kernel_entries}  {\n    Kernel k = make_kernel<${op}, ${first}::${op}_room::${name}::traits>(\"${op}\", \"${name}\", ${about}, ${broken});\n${launchers}    all.push_back(k);\n  }\n" PARENT_SCOPE)
endfunction()

# assay_write_registry(FILE [FOLDER BROKEN FLAVOURS...]): writes the correct kernels, and those of FOLDER (OP in it is any op) in
# these flavours, marked as broken if BROKEN is true.  The variants come with the broken ones.
function(assay_write_registry file)
  set(more "${ARGN}")
  list(POP_FRONT more folder broken)
  foreach(op ${ASSAY_OPS})
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/reference/${op}.cpp")
      message(FATAL_ERROR "ops/${op}.hpp has no golden: reference/${op}.cpp is missing")
    endif()
    file(GLOB kernels "${PROJECT_SOURCE_DIR}/cuda/${op}/*.cu")
    if(NOT kernels)
      message(FATAL_ERROR "ops/${op}.hpp has no kernel: cuda/${op}/ holds no .cu file")
    endif()
    string(APPEND includes "#include \"ops/${op}.hpp\"\n")
    string(APPEND declarations "namespace reference {\nvoid golden(const ${op}::Args&, ${op}::Golden&, const Rows&);\ndouble scratch(const ${op}::Args&, const Rows&);\n}\n"
      "template <>\ndouble TypedProblem<${op}>::scratch_of(const ${op}::Args& a, const Rows& rows) {\n  return reference::scratch(a, rows);\n}\n"
      "template <>\nvoid TypedProblem<${op}>::golden_of(const ${op}::Args& a, ${op}::Golden& g, const Rows& rows) {\n  reference::golden(a, g, rows);\n}\n")
    set(hooks "{}")
    if(EXISTS "${PROJECT_SOURCE_DIR}/validate/ops/${op}.cpp")
      string(APPEND declarations "Hooks hooks_of_${op}();\n")
      set(hooks "hooks_of_${op}()")
    endif()
    assay_head_comment("${PROJECT_SOURCE_DIR}/ops/${op}.hpp" about)
    string(APPEND op_entries "  all.push_back(make_op<${op}>(\"${op}\", ${about}, ${hooks}));\n")
    foreach(kernel ${kernels})
      get_filename_component(name "${kernel}" NAME_WE)
      assay_declare_kernel(${op} ${name} "${kernel}" false ${flavours})
    endforeach()
    if(folder)
      string(REPLACE "OP" "${op}" of_op "${folder}")
      file(GLOB kernels "${of_op}/*.cu")
      foreach(kernel ${kernels})
        get_filename_component(name "${kernel}" NAME_WE)
        assay_declare_kernel(${op} ${name} "${kernel}" ${broken} ${more})
      endforeach()
      set(kernels "")
      if(broken)
        file(GLOB kernels "${trial}/${op}/variants/*.cu")
      endif()
      foreach(kernel ${kernels})
        get_filename_component(name "${kernel}" NAME_WE)
        assay_declare_kernel(${op} ${name} "${kernel}" false ${more})
        string(REGEX REPLACE "    all.push_back\\(k\\);\n  }\n$" "    k.variant = true;\n    all.push_back(k);\n  }\n" kernel_entries
          "${kernel_entries}")
      endforeach()
    endif()
  endforeach()
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
"// Generated from the file names by cmake/Registry.cmake.
#include \"validate/problem/op_adapter.hpp\"
@includes@
namespace assay {
@declarations@
std::span<const Op> ops() {
  static const std::vector<Op> table = [] {
    std::vector<Op> all;
@op_entries@    return all;
  }();
  return table;
}

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

foreach(kernel ${ASSAY_KERNELS} ${ASSAY_BASELINES} ${ASSAY_BROKEN} ${ASSAY_VARIANTS})
  string(REGEX REPLACE "(/broken|/variants)?/[^/]*$" "" op "${kernel}")
  get_filename_component(op "${op}" NAME)
  if(NOT op IN_LIST ASSAY_OPS)
    message(FATAL_ERROR "${kernel}: there is no op '${op}' (ops/${op}.hpp is missing)")
  endif()
endforeach()
set(flavours on_simt)
if(ASSAY_GPU)
  list(APPEND flavours on_gpu)
endif()
assay_write_registry("${generated}/registry.cpp")
assay_write_registry("${generated}/registry_trial.cpp" "${trial}/OP/broken" true ${flavours})
assay_write_registry("${generated}/registry_hostile.cpp" "${PROJECT_SOURCE_DIR}/validate/tests/hostile/OP" false ${flavours})

# Broken kernels and variants are compiled together, one unit per op, since each has its own namespace.
foreach(op ${ASSAY_OPS})
  file(GLOB broken "${trial}/${op}/broken/*.cu" "${trial}/${op}/variants/*.cu")
  set(unit "")
  foreach(kernel ${broken})
    file(RELATIVE_PATH relative "${PROJECT_SOURCE_DIR}" "${kernel}")
    if(NOT relative MATCHES "^cuda/")  # no include path has it
      set(relative "${kernel}")
    endif()
    string(APPEND unit "#include \"${relative}\"\n")
  endforeach()
  if(unit)
    file(CONFIGURE OUTPUT "${generated}/broken_${op}.cu" CONTENT "${unit}" @ONLY)
    list(APPEND ASSAY_BROKEN_UNITS "${generated}/broken_${op}.cu")
  endif()
endforeach()
