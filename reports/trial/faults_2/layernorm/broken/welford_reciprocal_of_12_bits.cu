// SPDX-License-Identifier: Apache-2.0
// FAULT: the running moments are updated with a reciprocal of the count of 12 bits, as an approximate division gives it.
// Kind: precision
// Shows: f32 rows of more than a few hundred columns.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, welford_reciprocal_of_12_bits) {

struct Running {
  float count = 0, mean = 0, squares = 0;
  __device__ void add(float v) {
    count += 1.0f;
    const float d = v - mean;
    mean = fmaf(d, of_12_bits(1.0f / count), mean);
    squares = fmaf(d, v - mean, squares);
  }
  __device__ void join(float n, float m, float s) {
    if (n == 0.0f) return;
    const float all = count + n, d = m - mean, part = n / all;
    mean = fmaf(d, part, mean);
    squares += s + d * d * count * part;
    count = all;
  }
};

template <class T>
struct Steps : Plain<T> {
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    float* const scratch = shared_memory<float>();
    Running run;
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) run.add(to_float(ld(x + c)));
    for (int delta = kWarp / 2; delta > 0; delta /= 2) {
      const float n = shuffle_down(run.count, delta), m = shuffle_down(run.mean, delta), s = shuffle_down(run.squares, delta);
      run.join(n, m, s);
    }
    constexpr int kWarps = kPlainThreads / kWarp;
    if (lane_id() == 0) {
      st(scratch + warp_id(), run.count);
      st(scratch + kWarps + warp_id(), run.mean);
      st(scratch + 2 * kWarps + warp_id(), run.squares);
    }
    sync_block();
    Running all;
    for (int w = 0; w < kWarps; ++w) all.join(ld(scratch + w), ld(scratch + kWarps + w), ld(scratch + 2 * kWarps + w));
    return {all.mean, all.squares / static_cast<float>(cols)};
  }
};
KERNEL_FROM(layernorm, plain, Steps);

}  // namespace assay::ROOM(layernorm, welford_reciprocal_of_12_bits)
