// SPDX-License-Identifier: Apache-2.0
// Device memory, the clock, and the library that tiles are compared with.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "reports/tiles/tiles.hpp"

namespace tiles {

inline constexpr std::size_t kFlush = 256 << 20, kWorkspace = 64 << 20;  // bytes

struct Free {
  void operator()(void* p) const { cudaFree(p); }
};
using Memory = std::unique_ptr<void, Free>;
inline Memory allocate(std::size_t bytes) {
  void* p = nullptr;
  check(cudaMalloc(&p, bytes), "cudaMalloc");
  return Memory(p);
}

// Times a launch by the device's clock.  Note: the flush takes longer than the host takes to launch, so that the device never
// waits for the host between the events.
class Clock {
 public:
  Clock() {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  float time_us(const std::function<void()>& launch) {
    float ms = 0;
    check(cudaMemsetAsync(flushed_.get(), 0, kFlush), "cudaMemsetAsync");
    check(cudaEventRecord(begin_), "cudaEventRecord");
    launch();
    check(cudaEventRecord(end_), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "timing a launch");
    check(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime");
    return ms * 1000;
  }

 private:
  Memory flushed_ = allocate(kFlush);
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// Element of sorted times: 0.5 is the median.
inline float quantile(const std::vector<float>& sorted, double q) { return sorted[static_cast<std::size_t>(q * sorted.size())]; }
inline float median(const Candidate& c) { return quantile(c.times_us, 0.5); }

// y = x w^T, or with a bias y = gelu(x w^T + bias), by the fastest of the algorithms that cuBLASLt's heuristics propose.  Its
// objects live as long as the process.  Note: cuBLASLt is column-major, so that the call is y^T = w x^T.
class Library {
 public:
  Library(int m, int n, int k, const void* bias) {
    static const cublasLtHandle_t handle = [] {
      cublasLtHandle_t made = nullptr;
      check(cublasLtCreate(&made), "cublasLtCreate");
      return made;
    }();
    handle_ = handle;
    check(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
    const auto set = [&](cublasLtMatmulDescAttributes_t what, auto value) {
      check(cublasLtMatmulDescSetAttribute(operation_, what, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    if (bias) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    }
    check(cublasLtMatrixLayoutCreate(&w_, CUDA_R_16F, k, n, k), "cublasLtMatrixLayoutCreate");
    check(cublasLtMatrixLayoutCreate(&x_, CUDA_R_16F, k, m, k), "cublasLtMatrixLayoutCreate");
    check(cublasLtMatrixLayoutCreate(&y_, CUDA_R_16F, n, m, n), "cublasLtMatrixLayoutCreate");
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                               sizeof kWorkspace),
          "cublasLtMatmulPreferenceSetAttribute");
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle_, operation_, w_, x_, y_, y_, preference, static_cast<int>(algorithms_.size()),
                                         algorithms_.data(), &found),
          "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) throw std::runtime_error("cuBLASLt proposes no algorithm");
    algorithms_.resize(static_cast<std::size_t>(found));
  }

  void choose(Clock& clock, const void* x, const void* w, void* y) {
    float least = INFINITY;
    std::size_t fastest = 0;
    for (chosen_ = 0; chosen_ < algorithms_.size(); ++chosen_) {
      const auto launch = [&] { run(x, w, y); };
      launch();
      std::vector<float> times(5);
      for (float& t : times) t = clock.time_us(launch);
      std::sort(times.begin(), times.end());
      if (const float t = quantile(times, 0.5); t < least) {
        least = t;
        fastest = chosen_;
      }
    }
    chosen_ = fastest;
  }

  void run(const void* x, const void* w, void* y) const {
    const float one = 1, zero = 0;
    const auto& a = algorithms_.at(chosen_);
    check(cublasLtMatmul(handle_, operation_, &one, w, w_, x, x_, &zero, y, y_, y, y_, &a.algo, workspace_.get(), a.workspaceSize,
                         nullptr),
          "cublasLtMatmul");
  }

 private:
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t w_ = nullptr, x_ = nullptr, y_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms_ = std::vector<cublasLtMatmulHeuristicResult_t>(16);
  std::size_t chosen_ = 0;
  Memory workspace_ = allocate(kWorkspace);
};

}  // namespace tiles
