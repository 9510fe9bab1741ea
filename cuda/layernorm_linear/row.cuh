// SPDX-License-Identifier: Apache-2.0
// Shared by the fused kernels of this room: mean and 1/deviation of a row, by one block per row, in two passes.
#pragma once

#include "cuda/core/row_norm.cuh"
#include "ops/layernorm_linear.hpp"

namespace assay::ASSAY_FLAVOUR::layernorm_linear_room {

inline constexpr int kRowThreads = 128, kRowBatch = 4;
inline constexpr std::size_t kRowSharedBytes = row_pack::kScratchBytes;

// A thread adds the elements of its packs, at most ceil(hidden / 128) + 7, one of the tail, and 10 to join the block.
inline constexpr Chain kRowChain = {.lanes = kRowThreads, .extra = 18};

struct alignas(8) Statistics {
  float mean, r;
};

template <class T, int N>
__global__ void __launch_bounds__(kRowThreads)
    layernorm_linear_statistics(const T* x, std::int64_t x_stride, std::int64_t hidden, float epsilon, Statistics* to) {
  using namespace row_norm;
  using Pack = Raw<T, N>;
  x += blockIdx.x * x_stride;
  const Block block{shared_memory<float>()};
  const int thread = block.thread();
  const std::int64_t packs = hidden / N, tail = tail_column<N>(hidden, thread);
  const float extra = tail < hidden ? to_float(ld(x + tail)) : 0.0f, count = static_cast<float>(hidden);
  float sum = extra;
  each_pack<N, kRowBatch>(x, thread, packs, kRowThreads, [&](const Pack& p, std::int64_t) { sum += pack_sum<T, N>(p); });
  const float mean = block.sum(sum) / count;
  float squares = tail < hidden ? (extra - mean) * (extra - mean) : 0.0f;
  each_pack<N, kRowBatch>(x, thread, packs, kRowThreads,
                          [&](const Pack& p, std::int64_t) { squares += pack_squares<T, N>(p, mean); });
  const float r = 1.0f / sqrtf(block.sum(squares) / count + epsilon);
  if (thread == 0) st(to + blockIdx.x, Statistics{mean, r});
}

inline std::size_t statistics_bytes(const layernorm_linear::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0]) * sizeof(Statistics);
}

// Computes the statistics of every row of x.
template <class T>
void run_statistics(const layernorm_linear::Args& a, Statistics* to, void* stream) {
  const auto go = [&]<int N>(std::integral_constant<int, N>) {
    launch(layernorm_linear_statistics<T, N>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kRowThreads), .shared_bytes = kRowSharedBytes}, stream, a.x.as<T>(),
           a.x.stride[0], a.x.shape[1], static_cast<float>(a.epsilon), to);
  };
  a.x.rows_aligned(row_pack::kAccess) ? go(std::integral_constant<int, row_pack::kPerAccess<T>>{})
                                      : go(std::integral_constant<int, 1>{});
}

}  // namespace assay::ASSAY_FLAVOUR::layernorm_linear_room
