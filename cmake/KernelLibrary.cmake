# SPDX-License-Identifier: Apache-2.0
# Where nvcc is: the kernels of this tree as a shared object with the C interface, for python/assay/torch.py and any other program
# (docs/python.md).  It holds no kernel of a vendor's library.
# The kernels of an op stand in the order in which they are preferred: those for one architecture (sm90_), then the ladder of
# datasets/bench/OP.json from its last kernel on.
set(declarations "")
foreach(of entries composite_entries)
  set(${of} "")
endforeach()
set(includes "")
foreach(op ${ASSAY_OPS})
  string(APPEND includes "#include \"ops/${op}.hpp\"\n")
  set(dataset "${PROJECT_SOURCE_DIR}/datasets/bench/${op}.json")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${dataset}")
  if(NOT EXISTS "${dataset}")  # a new op: nobody has said which of its kernels is preferred
    continue()
  endif()
  file(READ "${dataset}" text)
  string(JSON ladder GET "${text}" ladder)
  string(REGEX MATCHALL "[a-z0-9_]+" kernels "${ladder}")
  list(REVERSE kernels)
  file(GLOB of_one RELATIVE "${PROJECT_SOURCE_DIR}/cuda/${op}" "${PROJECT_SOURCE_DIR}/cuda/${op}/sm90_*.cu")
  list(TRANSFORM of_one REPLACE "\\.cu$" "")
  set(table entries)
  if(op IN_LIST ASSAY_COMPOSITE_OPS)  # each of its outputs has numerics of its own
    set(table composite_entries)
  endif()
  foreach(kernel ${of_one} ${kernels})
    assay_head_comment("${PROJECT_SOURCE_DIR}/cuda/${op}/${kernel}.cu" about)
    set(room "on_gpu::${op}_room::${kernel}")
    string(APPEND declarations "namespace ${room} {\nextern const KernelTraits<${op}> traits;\nvoid run(const ${op}::Args&, const Launch&);\n}\n")
    string(APPEND ${table} "    all.add<${op}, ${room}::traits, ${room}::run>(\"${op}\", \"${kernel}\", ${about});\n")
  endforeach()
endforeach()
set(library_cpp "${PROJECT_BINARY_DIR}/generated/library.cpp")
file(CONFIGURE OUTPUT "${library_cpp}" @ONLY CONTENT
"// Generated from the file names by cmake/KernelLibrary.cmake.
#include \"validate/backends/exported.hpp\"
@includes@
namespace assay {
@declarations@
namespace {
// Composite ops stand behind the others: the C interface has no words for the numerics of their stages.
struct Library {
  exported::Kernels all;
  const AssayPlugin* judged;
  const AssayPlugin* whole;
  Library() {
@entries@    const std::size_t plain = all.size();
@composite_entries@    judged = all.plugin(plain);
    whole = all.plugin();
  }
};
const Library& library() {
  static const Library made;
  return made;
}
}  // namespace
}  // namespace assay

const AssayPlugin* assay_plugin(uint32_t version) { return version == ASSAY_ABI_VERSION ? assay::library().judged : nullptr; }
// The same with the composite ops, which no judge can take from a plugin.
extern \"C\" ASSAY_EXPORT const AssayPlugin* assay_all_kernels(uint32_t version) {
  return version == ASSAY_ABI_VERSION ? assay::library().whole : nullptr;
}
// Why the last run() of this thread returned an error.
extern \"C\" ASSAY_EXPORT const char* assay_last_error() { return assay::exported::last_error().c_str(); }
")

# What binds kernels to the C interface.  Note: with fmt's headers alone, so that the object needs no libfmt.
set(ASSAY_EXPORTED "${PROJECT_SOURCE_DIR}/validate/problem/numerics_text.cpp" "${PROJECT_SOURCE_DIR}/validate/base/error.cpp")
function(assay_exported_kernels target folder name)
  add_library(${target} MODULE ${ARGN} ${ASSAY_EXPORTED})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY "${folder}" UNITY_BUILD OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${target} PRIVATE assay_flags assay_room_ops assay_room_include assay_room_validate fmt::fmt-header-only)
endfunction()

if(ASSAY_GPU)
  set_target_properties(assay_kernels_gpu assay_vendor PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(TARGET assay_kernels_gpu_hopper)
    set_target_properties(assay_kernels_gpu_hopper PROPERTIES POSITION_INDEPENDENT_CODE ON)
    set(hopper_objects $<TARGET_OBJECTS:assay_kernels_gpu_hopper>)
  endif()
  assay_exported_kernels(assay_kernels "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" libassay_kernels "${library_cpp}"
    "$<FILTER:$<TARGET_OBJECTS:assay_kernels_gpu>,EXCLUDE,/(baseline_[^/]*|probe|greedy)[.]cu>" ${hopper_objects})
  target_compile_definitions(assay_kernels PRIVATE ASSAY_GPU)
  target_link_libraries(assay_kernels PRIVATE assay_vendor assay_room_cuda CUDA::cudart_static)
  # Note: a process that loads it has a CUDA runtime and a C++ library of its own, which must not take the place of these.
  target_link_options(assay_kernels PRIVATE -s -static-libgcc -static-libstdc++ -Wl,--exclude-libs,ALL)
  set_target_properties(assay_kernels PROPERTIES LINKER_LANGUAGE CXX)
endif()
