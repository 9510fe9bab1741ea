// SPDX-License-Identifier: Apache-2.0
// Times kernels on a GPU by its own clock, and measures the two ceilings: copy rate and matrix rate.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "validate/worker/clock.hpp"

namespace assay::cuda {

// Throws std::runtime_error if a call has failed.  `what` names the call in the message.
void check(cudaError_t status, const char* what);

// As in Clock (validate/worker/clock.hpp).
std::vector<std::vector<double>> time_us(cudaStream_t stream, const std::vector<TimedLaunch>& kernels, double seconds);
std::vector<SteadyTimes> steady_us(cudaStream_t stream, const std::vector<TimedLaunch>& kernels,
                                   const std::vector<double>& about_us);
double copy_rate(cudaStream_t stream, std::size_t bytes);
double matrix_rate(cudaStream_t stream, DType type);  // 0 without the vendor's library

}  // namespace assay::cuda
