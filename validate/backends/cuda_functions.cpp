// SPDX-License-Identifier: Apache-2.0
// Lists the CUDA functions of a launch, which cuda/core/device_gpu.cuh reports, with the resources of each.
#include "cuda/core/launch_observer.hpp"
#include "validate/backends/cuda_clock.hpp"
#include "validate/backends/cuda_counters.hpp"
#include "validate/backends/device_figures.hpp"

namespace assay::cuda {

namespace {

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

LaunchedFunction looked_at(const on_gpu::ObservedLaunch& launch) {
  cudaFuncAttributes a{};
  check(cudaFuncGetAttributes(&a, launch.function), "cudaFuncGetAttributes");
  const char* symbol = nullptr;
  check(cudaFuncGetName(&symbol, launch.function), "cudaFuncGetName");
  LaunchedFunction f{.name = short_function_name(symbol), .registers = a.numRegs};
  f.static_shared = a.sharedSizeBytes;
  f.dynamic_shared = launch.dynamic_shared;
  f.local_bytes = a.localSizeBytes;
  f.threads = launch.threads;
  f.blocks = launch.blocks;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&f.blocks_per_sm, launch.function, launch.threads, launch.dynamic_shared),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  static const int threads_of_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  f.occupancy = static_cast<double>(f.blocks_per_sm) * f.threads / threads_of_sm;
  return f;
}

}  // namespace

std::vector<LaunchedFunction> functions_of(const std::function<void()>& work) {
  std::vector<on_gpu::ObservedLaunch> seen;
  struct Unset {
    ~Unset() { on_gpu::launch_observer = {}; }
  } unset;
  on_gpu::launch_observer = {.tell =
                                 [](void* all, const on_gpu::ObservedLaunch& launch) {
                                   static_cast<std::vector<on_gpu::ObservedLaunch>*>(all)->push_back(launch);
                                 },
                             .context = &seen};
  work();
  std::vector<LaunchedFunction> functions;
  for (const on_gpu::ObservedLaunch& launch : seen) functions.push_back(looked_at(launch));
  return functions;
}

}  // namespace assay::cuda
