// SPDX-License-Identifier: Apache-2.0
// Observes launches on a GPU: their CUDA functions, and by hardware counters their bytes of device memory.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "validate/worker/clock.hpp"

namespace assay::cuda {

// The CUDA functions that our launchers launch while `work` runs, in order.
std::vector<LaunchedFunction> functions_of(const std::function<void()>& work);

// As in Clock (validate/worker/clock.hpp).
std::vector<DramBytes> dram_bytes(cudaStream_t stream, const std::vector<TimedLaunch>& kernels,
                                  const std::vector<double>& about_s);
DramBytes copy_dram_bytes(cudaStream_t stream, std::size_t bytes);

}  // namespace assay::cuda
