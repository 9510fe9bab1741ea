// SPDX-License-Identifier: Apache-2.0
// Times on a GPU, by its own clock, and the two ceilings that they are held against.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "validate/worker/clock.hpp"

namespace assay::cuda {

// Throws std::runtime_error where a call failed.
void check(cudaError_t status, const char* what);

// As Backend says of them.
std::vector<std::vector<double>> time_us(cudaStream_t stream, const std::vector<TimedLaunch>& kernels, double seconds);
std::vector<SteadyTimes> steady_us(cudaStream_t stream, const std::vector<TimedLaunch>& kernels,
                                   const std::vector<double>& about_us);
double copy_rate(cudaStream_t stream, std::size_t bytes);
double matrix_rate(cudaStream_t stream, DType type);  // 0 without the vendor's library

}  // namespace assay::cuda
