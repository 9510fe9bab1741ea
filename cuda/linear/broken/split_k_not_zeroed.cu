// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum is split among blocks that add their parts to y, and nobody sets y to zero first. Right up to 64 channels,
// which are not split.
// Caught by: T1, and T4 by the two garbage patterns in y; hidden above 64.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, split_k_not_zeroed) {

inline constexpr std::int64_t kPart = 64;  // channels

template <class T>
struct Wrong : Plain<T> {
  static constexpr bool kDeterministic = false;
  static dim3 grid(const Operands<T>& p, int threads) {
    return dim3(p.tokens * ceil_div(p.hidden, kPart), ceil_div(p.out, threads));
  }
  __device__ static std::int64_t parts(const Operands<T>& p) { return ceil_div(p.hidden, kPart); }
  __device__ static std::int64_t part(const Operands<T>& p) { return blockIdx.x % parts(p); }
  __device__ static Place place(const Operands<T>& p) { return {blockIdx.x / parts(p), Plain<T>::place(p).o}; }
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    float sum = 0;
    for (std::int64_t h = part(p) * kPart; h < p.hidden && h < (part(p) + 1) * kPart; ++h)
      sum = F::added(sum, p.x_at(token, h), p.weight_at(o, h));
    return sum;
  }
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t, std::int64_t o) {
    return p.bias != nullptr && part(p) == 0 ? sum + p.bias_at(o) : sum;
  }
  __device__ static void store(const Operands<T>& p, T* y, float v) {
    if (parts(p) == 1) st(y, from_float<T>(v));
    else if constexpr (std::is_same_v<T, float>) atomic_add(y, v);
  }
};
KERNEL_FROM(linear, plain, Wrong, {f32});

}  // namespace assay::ROOM(linear, split_k_not_zeroed)
