// SPDX-License-Identifier: Apache-2.0
// Tiles of 32 tokens by 16 features in two buffers of shared memory: the next 16 channels are loaded while these are
// multiplied, one
// barrier a step; two tokens a thread.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, two_buffers) {

inline constexpr int kM = 32, kN = 16, kK = 16, kThreads = kM / 2 * kN, kBuffer = (kM + kN) * kK;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Problem {
  const T *x, *weight, *bias;
  T* y;
  std::int64_t tokens, hidden, out, across, x_stride, weight_stride, y_stride;
};

template <class T>
__device__ inline void load(const Problem<T>& p, float* to, std::int64_t token, std::int64_t o, std::int64_t h) {
  for (int i = static_cast<int>(threadIdx.x); i < kBuffer; i += kThreads) {
    const int row = i / kK, k = i % kK;
    float v = 0;
    if (h + k < p.hidden) {
      if (row < kM && token + row < p.tokens) v = to_float(ld(p.x + (token + row) * p.x_stride + h + k));
      if (row >= kM && o + row - kM < p.out) v = to_float(ld(p.weight + (o + row - kM) * p.weight_stride + h + k));
    }
    st(to + i, v);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) linear_two_buffers(Problem<T> p) {
  float* const buffers = shared_memory<float>();
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) / p.across * kM;
  const std::int64_t o = static_cast<std::int64_t>(blockIdx.x) % p.across * kN;
  const int m = static_cast<int>(threadIdx.x) / kN, n = static_cast<int>(threadIdx.x) % kN;
  float low = 0, high = 0;
  int now = 0;
  load(p, buffers, token, o, 0);
  sync_block();
  for (std::int64_t first = 0; first < p.hidden; first += kK) {
    const float* const from = buffers + now * kBuffer;
    if (first + kK < p.hidden) load(p, buffers + (1 - now) * kBuffer, token, o, first + kK);
    const int depth = p.hidden - first < kK ? static_cast<int>(p.hidden - first) : kK;
    for (int k = 0; k < depth; ++k) {
      const float w = ld(from + (kM + n) * kK + k);
      low = fmaf(ld(from + m * kK + k), w, low);
      high = fmaf(ld(from + (m + kM / 2) * kK + k), w, high);
    }
    sync_block();
    now = 1 - now;
  }
  if (o + n >= p.out) return;
  const float bias = p.bias != nullptr ? to_float(ld(p.bias + o + n)) : 0.0f;
  if (token + m < p.tokens) st(p.y + (token + m) * p.y_stride + o + n, from_float<T>(low + bias));
  if (token + m + kM / 2 < p.tokens) st(p.y + (token + m + kM / 2) * p.y_stride + o + n, from_float<T>(high + bias));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], across = ceil_div(out, kN);
  if (tokens * out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p{a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, across,
                       a.x.stride[0], a.weight.stride[0], a.y.stride[0]};
    launch(linear_two_buffers<T>,
           {.grid = dim3(across * ceil_div(tokens, kM)), .block = dim3(kThreads), .shared_bytes = 2 * kBuffer * sizeof(float)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(linear, two_buffers)
