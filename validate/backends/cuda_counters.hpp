// SPDX-License-Identifier: Apache-2.0
// What a GPU says of a launch: which functions it launched, and, by the hardware's counters, its bytes of device memory.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "validate/worker/clock.hpp"

namespace assay::cuda {

// The functions that our launchers launch while `work` runs.
std::vector<LaunchedFunction> functions_of(const std::function<void()>& work);

// As Backend says of them.
std::vector<DramBytes> dram_bytes(cudaStream_t stream, const std::vector<TimedLaunch>& kernels,
                                  const std::vector<double>& about_s);
DramBytes copy_dram_bytes(cudaStream_t stream, std::size_t bytes);

}  // namespace assay::cuda
