// SPDX-License-Identifier: Apache-2.0
// A block per row: each thread its columns, then the warps, then the block.
#include "cuda/core/greedy/greedy.hpp"

#include <climits>

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR {

namespace {

inline constexpr int kGreedyThreads = 512;

struct Best {
  float value = -INFINITY;
  int at = INT_MAX;
  __device__ void join(float v, int i) {
    if (v > value || (v == value && i < at)) {
      value = v;
      at = i;
    }
  }
  __device__ void join_warp() {
#pragma unroll
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      const float v = shuffle_xor(value, offset);
      const int i = shuffle_xor(at, offset);
      join(v, i);
    }
  }
};

template <class T, int N>
__global__ void __launch_bounds__(kGreedyThreads) next_token(const T* logits, int vocab, std::int64_t stride, NextTokens a) {
  wait_for_previous_grid();
  const T* const row = logits + blockIdx.x * stride;
  const int thread = static_cast<int>(threadIdx.x), packs = vocab / N;
  Best best;
  for (int p = thread; p < packs; p += kGreedyThreads) {
    const auto v = ld(reinterpret_cast<const Vec<T, N>*>(row) + p);
#pragma unroll
    for (int j = 0; j < N; ++j) best.join(to_float(v[j]), p * N + j);
  }
  for (int i = packs * N + thread; i < vocab; i += kGreedyThreads) best.join(to_float(ld(row + i)), i);
  best.join_warp();
  float* const values = shared_memory<float>();
  int* const places = reinterpret_cast<int*>(values + kGreedyThreads / kWarp);
  if (lane_id() == 0) {
    st(values + warp_id(), best.value);
    st(places + warp_id(), best.at);
  }
  sync_block();
  if (thread != 0) return;
  for (int w = 1; w < kGreedyThreads / kWarp; ++w) best.join(ld(values + w), ld(places + w));
  const float first = to_float(ld(row));
  const std::int32_t next = first != first || best.at == INT_MAX ? 0 : best.at;
  st(a.next + blockIdx.x, next);
  if (a.lengths == nullptr) return;
  if (const std::int32_t length = ld(a.lengths + blockIdx.x); length > 0) {
    const std::int32_t position = ld(a.positions + blockIdx.x) + 1;
    st(a.lengths + blockIdx.x, length + 1);
    st(a.positions + blockIdx.x, position);
    if (a.history != nullptr && position < a.most_positions) st(a.history + blockIdx.x * a.most_positions + position, next);
  }
}

}  // namespace

void next_tokens(const void* args, const Launch& l) {
  const NextTokens& a = *static_cast<const NextTokens*>(args);
  if (a.logits.shape[0] == 0) return;
  with_type(a.logits.dtype, [&]<class T>(Type<T>) {
    const LaunchConfig config{.grid = dim3(static_cast<unsigned>(a.logits.shape[0])),
                              .block = dim3(kGreedyThreads),
                              .shared_bytes = kGreedyThreads / kWarp * (sizeof(float) + sizeof(int)),
                              .dependent = l.after};
    const auto with = [&](void (*kernel)(const T*, int, std::int64_t, NextTokens)) {
      launch(kernel, config, l.stream, a.logits.as<T>(), static_cast<int>(a.logits.shape[1]), a.logits.stride[0], a);
    };
    a.logits.rows_aligned(16) ? with(next_token<T, 16 / sizeof(T)>) : with(next_token<T, 1>);
  });
}

}  // namespace assay::ASSAY_FLAVOUR
