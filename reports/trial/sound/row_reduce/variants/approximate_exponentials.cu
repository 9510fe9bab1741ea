// SPDX-License-Identifier: Apache-2.0
// A row a block; logsumexp by exp2_approx, for terms and for rescaling, whose subnormal results are zero, as declared.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, approximate_exponentials) {

struct alignas(8) Approximate {
  float max = -INFINITY, sum = 0;
  __device__ static float power(float d) { return exp2_approx(d * 1.4426950408889634f); }
  template <int N>
  __device__ void add(const float (&v)[N]) {
    for (int j = 0; j < N; ++j) join({v[j], 1.0f});
  }
  // Note: what has no finite term is left out, since -inf less itself would be NaN.
  __device__ void join(const Approximate& other) {
    const float all = fold::larger(max, other.max), at = all == -INFINITY ? 0.0f : all;
    sum = sum * power(max - at) + other.sum * power(other.max - at);
    max = all;
  }
  __device__ Approximate of_lane(int delta) const { return {shuffle_down(max, delta), shuffle_down(sum, delta)}; }
  __device__ float result() const { return fabsf(max) < INFINITY ? max + logf(sum) : max; }
};

template <class T>
struct ByApproximate : Plain<T> {
  using LogSumExp = Approximate;
};
KERNEL_DECLARING(row_reduce, plain, ByApproximate,
                 (Numerics{.accumulate = f32,
                           .chain = {.lanes = kPlainThreads, .extra = 10},
                           .flushes_subnormals = true,
                           .rescales = {.lanes = kPlainThreads, .extra = 10}}));

}  // namespace assay::ROOM(row_reduce, approximate_exponentials)
