// SPDX-License-Identifier: Apache-2.0
// Two kernels, as a framework runs them: the scaled scores of all pairs, rounded to the dtype, into workspace; then the softmax
// of each row over its visible keys.  The baseline for the fused kernel: the product is linear's tensor-core loop (f32: its FMA
// loop), the softmax keeps a row in registers if it fits.
#include "cuda/attention_scores/softmax.cuh"
#include "cuda/core/fma_gemm.cuh"
#include "cuda/core/mma_gemm.cuh"

namespace assay::ROOM(attention_scores, unfused) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::seq_q, 128), tile(Axis::seq_k, 128), tile(Axis::head_dim, 32)},
    .numerics = {.accumulate = f32,
                 .chain = row_softmax::kBlockChain,
                 .mma_terms = 8,
                 .stores = "scores",  // also covers the single FMA chain of head_dim terms in f32
                 .flushes_subnormals = true,
                 .rescales = row_softmax::kBlockRescales},
    .workspace_bytes = bytes_of_scores,
};

// A tile of queries and keys of one head.
template <int kM, int kN, class T>
__device__ inline auto tile_of(const Problem<T>& m) {
  struct Tile {
    std::int64_t pair, batch, query, key;  // pair: of batch and head
    int head;
  };
  const std::int64_t q_tiles = ceil_div(m.seq_q, kM), tiles = q_tiles * ceil_div(m.seq_k, kN);
  const std::int64_t pair = blockIdx.x / tiles, within = blockIdx.x % tiles;
  return Tile{pair, pair / m.heads, within % q_tiles * kM, within / q_tiles * kN, static_cast<int>(pair % m.heads)};
}

template <class T, bool kWide>
__global__ void __launch_bounds__(mma_gemm::kThreads, 2)
    attention_scores_unfused_product(Problem<T> m, T* scores, std::int64_t pitch) {
  using namespace mma_gemm;
  const auto at = tile_of<kM, kN>(m);
  const Operand<T> q{m.q.at(at.batch, 0, at.head), m.q.stride[1], m.seq_q};
  const Operand<T> k{m.k.at(at.batch, 0, at.head / m.group), m.k.stride[1], m.seq_k};
  const Result<T> s{scores + at.pair * m.seq_q * pitch, pitch, m.seq_q, m.seq_k, true};
  const std::int64_t mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(Loader<T, kM>(q, at.query + mine, kRowsAtOnce), Loader<T, kN>(k, at.key + mine, kRowsAtOnce), m.dim, acc,
                     NoScale{});
  for_pairs(acc, [&](int r, int c, float v0, float v1) { s.store(at.query + r, at.key + c, v0 * m.scale, v1 * m.scale); });
}

__global__ void __launch_bounds__(fma_gemm::kThreads)
    attention_scores_unfused_product_f32(Problem<float> m, bool wide_q, bool wide_k, float* scores, std::int64_t pitch) {
  using namespace fma_gemm;
  const auto at = tile_of<kM, kN>(m);
  const Operand<float> q{m.q.at(at.batch, 0, at.head), m.q.stride[1], m.seq_q, wide_q};
  const Operand<float> k{m.k.at(at.batch, 0, at.head / m.group), m.k.stride[1], m.seq_k, wide_k};
  float* const s = scores + at.pair * m.seq_q * pitch;
  Accumulators acc;
  multiply(q, k, at.query, at.key, m.dim, acc);
  for_each(acc, [&](int r, int c, float v) {
    if (at.query + r < m.seq_q && at.key + c < m.seq_k) st(s + (at.query + r) * pitch + at.key + c, v * m.scale);
  });
}

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  const std::int64_t tiles = ceil_div(a.q.shape[1], 128) * ceil_div(a.k.shape[1], 128) * a.q.shape[0] * a.q.shape[2];
  const bool wide_q = a.q.rows_aligned(16), wide_k = a.k.rows_aligned(16);
  if (a.q.dtype == f32) {
    launch(attention_scores_unfused_product_f32,
           {.grid = dim3(tiles), .block = dim3(fma_gemm::kThreads), .shared_bytes = fma_gemm::kSharedBytes}, l.stream,
           problem<float>(a), wide_q, wide_k, static_cast<float*>(l.workspace), pitch(a));
  } else {
    with_half_type(a.q.dtype, [&]<class T>(Type<T>) {
      launch(wide_q && wide_k ? attention_scores_unfused_product<T, true> : attention_scores_unfused_product<T, false>,
             {.grid = dim3(tiles), .block = dim3(mma_gemm::kThreads), .shared_bytes = mma_gemm::kSharedBytes}, l.stream,
             problem<T>(a), static_cast<T*>(l.workspace), pitch(a));
    });
  }
  softmax_step(a, l);
}

}  // namespace assay::ROOM(attention_scores, unfused)
