// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/cuda_ptx.hpp"

#include <cuda.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <stdexcept>
#include <type_traits>

#include "cuda/core/vendor/library.hpp"
#include "validate/backends/cuda_clock.hpp"

namespace assay::cuda {

namespace {

const vendor::Library& driver_library() {
  static const vendor::Library library("the CUDA driver", {"libcuda.so.1"}, nullptr);
  return library;
}

#define ASSAY_DRIVER(name) decltype(&::name) name = driver_library().function<std::remove_pointer_t<decltype(&::name)>>(#name)
struct Words {
  ASSAY_DRIVER(cuGetErrorString);
  ASSAY_DRIVER(cuModuleLoadDataEx);
  ASSAY_DRIVER(cuModuleUnload);
  ASSAY_DRIVER(cuModuleGetFunction);
  ASSAY_DRIVER(cuFuncSetAttribute);
  ASSAY_DRIVER(cuLaunchKernelEx);
};
#undef ASSAY_DRIVER
const Words& words() {
  static const Words all;
  return all;
}

// `more`: what the driver's compiler says.
void check(CUresult result, const std::string& what, const char* more = "") {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  if (words().cuGetErrorString(result, &text) != CUDA_SUCCESS || !text) text = "unknown error";
  throw std::runtime_error(fmt::format("{}: {} ({}){}{}", what, text, static_cast<int>(result), *more != 0 ? ": " : "", more));
}

}  // namespace

void encode_map(const MappedTensor& t, std::byte* map) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const Encode encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found) != cudaSuccess ||
        function == nullptr)
      throw std::runtime_error("the driver has no cuTensorMapEncodeTiled");
    return reinterpret_cast<Encode>(function);
  }();
  cuuint64_t extents[5] = {}, strides[5] = {};
  cuuint32_t box[5] = {}, ones[5] = {1, 1, 1, 1, 1};
  for (int d = 0; d < t.rank; ++d) {
    extents[d] = static_cast<cuuint64_t>(t.extents[d]);
    strides[d] = static_cast<cuuint64_t>(t.strides_bytes[d]);
    box[d] = static_cast<cuuint32_t>(t.box[d]);
  }
  constexpr CUtensorMapDataType kTypes[] = {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                            CU_TENSOR_MAP_DATA_TYPE_FLOAT32};
  const CUtensorMapSwizzle swizzle = t.swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : t.swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : t.swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                       : CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMap encoded;
  check(
      encode(&encoded, kTypes[static_cast<int>(t.element)], static_cast<cuuint32_t>(t.rank), t.data, extents, strides, box, ones,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      "making a tensor map");
  std::memcpy(map, &encoded, sizeof encoded);
}

struct PtxModule::Driver {
  CUmodule module = nullptr;
  struct Entry {
    CUfunction function = nullptr;
    unsigned shared = 0;  // bytes that it may have
  };
  std::map<std::string, Entry> entries;
};

PtxModule::PtxModule(const std::string& text) : driver_(std::make_unique<Driver>()) {
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaFree(nullptr), "making a context");  // the runtime's context is the one that the driver's calls use
  std::array<char, 4096> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const CUresult result = words().cuModuleLoadDataEx(&driver_->module, text.c_str(), 2, options, values);
  for (char& c : log)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  check(result, "the driver refuses the PTX module", log.data());
}

PtxModule::~PtxModule() {
  if (driver_->module) words().cuModuleUnload(driver_->module);
}

void PtxModule::launch(const std::string& entry, const EntryLaunch& l, std::span<void*> parameters) {
  auto& [function, granted] = driver_->entries[entry];
  if (!function) check(words().cuModuleGetFunction(&function, driver_->module, entry.c_str()), "finding '" + entry + "'");
  if (l.dynamic_shared > granted) {
    check(
        words().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(l.dynamic_shared)),
        fmt::format("{} bytes of shared memory for '{}'", l.dynamic_shared, entry));
    granted = l.dynamic_shared;
  }
  CUlaunchAttribute dependent{};
  dependent.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  dependent.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = l.grid[0];
  config.gridDimY = l.grid[1];
  config.gridDimZ = l.grid[2];
  config.blockDimX = l.block[0];
  config.blockDimY = l.block[1];
  config.blockDimZ = l.block[2];
  config.sharedMemBytes = l.dynamic_shared;
  config.hStream = static_cast<CUstream>(l.stream);
  config.attrs = &dependent;
  config.numAttrs = l.dependent ? 1 : 0;
  check(words().cuLaunchKernelEx(&config, function, parameters.data(), nullptr), "launching '" + entry + "'");
}

}  // namespace assay::cuda
