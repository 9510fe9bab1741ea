// SPDX-License-Identifier: Apache-2.0
// Times kernels on a GPU by its own clock, and measures the two ceilings: copy rate and matrix rate.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "validate/worker/clock.hpp"

namespace assay::cuda {

// Throws std::runtime_error if a call has failed.  `what` names the call in the message.
void check(cudaError_t status, const char* what);

// What `launches` puts into a stream, captured.  All throw std::runtime_error.
class Graph {
 public:
  Graph(cudaStream_t stream, const std::function<void()>& launches);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  bool empty() const;
  void instantiate();
  void launch(cudaStream_t stream) const;  // after instantiate()

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

// As in Clock (validate/worker/clock.hpp).
std::vector<std::vector<double>> time_us(cudaStream_t stream, const std::vector<TimedLaunch>& kernels, double seconds, L2 l2);
std::vector<SteadyTimes> steady_us(cudaStream_t stream, const std::vector<TimedLaunch>& kernels,
                                   const std::vector<double>& about_us);
void copy_within(const void* device_copy, const Launch&);  // the launcher of a DeviceCopy
double copy_rate(cudaStream_t stream, std::size_t bytes);
double matrix_rate(cudaStream_t stream, DType type);  // 0 without the vendor's library

}  // namespace assay::cuda
