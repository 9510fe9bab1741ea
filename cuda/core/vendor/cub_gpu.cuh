// SPDX-License-Identifier: Apache-2.0
// Reductions by CUB, a header library of the CUDA toolkit.  Only nvcc compiles this file.
#pragma once

#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <stdexcept>
#include <string>

namespace assay::vendor::cub_reduce {

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(status));
}

// Offset in elements of a row's begin (`more` = 0) or end (`more` = its columns).
struct RowEnd {
  std::int64_t stride, more;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * stride + more; }
};

// y[r] = op of `start` and all elements of row r, by DeviceReduce for one row and DeviceSegmentedReduce for several.  Without
// workspace it does nothing but return the bytes that it needs.  Throws std::runtime_error with CUB's error.
template <class In, class Op>
std::size_t reduce_rows(In x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride, Op op, float start,
                        void* workspace, std::size_t bytes, cudaStream_t stream) {
  if (rows == 1) {
    check(cub::DeviceReduce::Reduce(workspace, bytes, x, y, cols, op, start, stream), "cub::DeviceReduce::Reduce");
  } else {
    const auto rows_from = thrust::make_counting_iterator(std::int64_t{0});
    check(cub::DeviceSegmentedReduce::Reduce(workspace, bytes, x, y, rows,
                                             thrust::make_transform_iterator(rows_from, RowEnd{stride, 0}),
                                             thrust::make_transform_iterator(rows_from, RowEnd{stride, cols}), op, start, stream),
          "cub::DeviceSegmentedReduce::Reduce");
  }
  return bytes;
}

}  // namespace assay::vendor::cub_reduce
