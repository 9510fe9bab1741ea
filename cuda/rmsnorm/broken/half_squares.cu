// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread keeps its sum of squares in the storage dtype, whose largest value is 65504 in f16, and the declaration says
// f32, which is true of f32: f16 and bf16 only.
// Caught by: the bound, on rows of |x| about 8000 in f16, whose squares are infinite (large_rows), and on random fills from
// about a hundred columns on.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, half_squares) {

KERNEL(rmsnorm){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, 32)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 32, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kThreads = 32;
  __device__ static float squares(const Rows<T>& m, const T* x) {
    T squares = from_float<T>(0);
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) {
      const float v = to_float(ld(x + c));
      squares = from_float<T>(fmaf(v, v, to_float(squares)));
    }
    return block_sum(to_float(squares), shared_memory<float>());
  }
};

void run(const rmsnorm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm, half_squares)
