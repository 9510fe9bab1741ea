// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/cuda_ptx.hpp"

#include <cuda.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <array>
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
  ASSAY_DRIVER(cuLaunchKernel);
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
  check(words().cuLaunchKernel(function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.dynamic_shared,
                               static_cast<CUstream>(l.stream), parameters.data(), nullptr),
        "launching '" + entry + "'");
}

}  // namespace assay::cuda
