// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread keeps its sums in the storage dtype and the declaration says f32, which is true of f32: f16 and bf16 only.
// Caught by: the bound, on random fills from about a hundred columns on, plainly on those with a large mean.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, half_accumulator) {

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, 32)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 32, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kThreads = 32;
  __device__ static float mean(const Rows<T>& m) {
    T sum = from_float<T>(0);
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) sum = from_float<T>(to_float(sum) + m.x_at(c));
    return block_sum(to_float(sum), shared_memory<float>()) / static_cast<float>(m.cols);
  }
  __device__ static float squares(const Rows<T>& m, float mean) {
    T squares = from_float<T>(0);
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) {
      const float d = m.x_at(c) - mean;
      squares = from_float<T>(fmaf(d, d, to_float(squares)));
    }
    return block_sum(to_float(squares), shared_memory<float>());
  }
};

void run(const layernorm_residual::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(layernorm_residual, half_accumulator)
