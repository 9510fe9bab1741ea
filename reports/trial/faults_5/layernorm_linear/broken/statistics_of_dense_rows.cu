// SPDX-License-Identifier: Apache-2.0
// FAULT: the statistics of rows that start at multiples of 16 bytes are computed as if rows of x were hidden elements apart.
// KIND: layout
// Right on: layernorm_linear f16 tokens=32 hidden=128 out=64 fill=normal seed=1
// Wrong on: layernorm_linear f16 tokens=8 hidden=64 out=32 layout=padded16 fill=normal seed=1
#include "cuda/core/fma_gemm.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm_linear.hpp"

namespace assay::ROOM(layernorm_linear, statistics_of_dense_rows) {

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
           N > 1 ? a.x.shape[1] : a.x.stride[0], a.x.shape[1], static_cast<float>(a.epsilon), to);
  };
  a.x.rows_aligned(row_pack::kAccess) ? go(std::integral_constant<int, row_pack::kPerAccess<T>>{})
                                      : go(std::integral_constant<int, 1>{});
}

using namespace fma_gemm;

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kN), tile(Axis::out, kM), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},  // products; kRowChain is shorter
    .workspace_bytes = statistics_bytes,
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    layernorm_linear_statistics_of_dense_rows(Operand<T> weight, Operand<T> x, const T* gamma, const T* beta, const T* bias,
                                              const Statistics* statistics, T* y, std::int64_t y_stride, std::int64_t hidden) {
  const std::int64_t across = ceil_div(x.rows, kN), row = blockIdx.x / across * kM, column = blockIdx.x % across * kN;
  const std::int64_t token = column + linear_thread() / 2;  // loaded by this thread
  const Statistics mine = token < x.rows ? ld(statistics + token) : Statistics{};
  Accumulators acc;
  multiply(weight, x, row, column, hidden, acc, [&](float(&v)[kPart], std::int64_t k) {
#pragma unroll
    for (int i = 0; i < kPart; ++i)
      if (k + i < hidden) v[i] = fmaf((v[i] - mine.mean) * mine.r, to_float(ld(gamma + k + i)), to_float(ld(beta + k + i)));
  });
  for_each(acc, [&](int dr, int dc, float v) {
    const std::int64_t o = row + dr, t = column + dc;
    if (t >= x.rows || o >= weight.rows) return;
    st(y + t * y_stride + o, from_float<T>(bias != nullptr ? v + to_float(ld(bias + o)) : v));
  });
}

void run(const layernorm_linear::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kN) * ceil_div(a.y.shape[1], kM);
  if (tiles == 0) return;
  Statistics* const statistics = static_cast<Statistics*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    run_statistics<T>(a, statistics, l.stream);
    launch(layernorm_linear_statistics_of_dense_rows<T>,
           {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes}, l.stream, operand<T>(a.weight),
           operand<T>(a.x), a.gamma.as<T>(), a.beta.as<T>(), a.bias.as<T>(), statistics, a.y.as<T>(), a.y.stride[0],
           a.x.shape[1]);
  });
}

}  // namespace assay::ROOM(layernorm_linear, statistics_of_dense_rows)
