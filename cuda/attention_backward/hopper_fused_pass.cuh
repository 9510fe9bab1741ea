// SPDX-License-Identifier: Apache-2.0
// The one pass of hopper_fused.cuh on the host, and the kernels around it: before it D, L log2(e) and cleared sums, after it dQ
// from the sums.
#pragma once

#include "cuda/attention_backward/hopper_fused.cuh"
#include "cuda/attention_backward/hopper_queries.cuh"
#include "cuda/attention_backward/hopper_statistics.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

// Note: dS is a product of the rounded P, so both are rounded.  A block's first product of 16 keys has no
// sum to align, so the addition of the block's sum to memory, one rounding in any order, is counted.  It flushes subnormals.
inline constexpr Numerics kFusedNumerics = {.accumulate = DType::f32,
                                            .chain = {.lanes = 1},
                                            .mma_terms = 16,
                                            .stores = "p,ds",
                                            .fused_exponent = true,
                                            .flushes_subnormals = true,
                                            .flushes_storage = true};

inline constexpr int kConvertThreads = 128;

// dQ of 64 queries from their sums.  Sums lie as the block's accumulators: four of a thread beside four of the next one.  Note:
// launch bounds of 4 blocks allow more registers than the compiler takes by itself, with spills.
template <class S, class T>
__global__ void __launch_bounds__(kConvertThreads, 4)
    attention_backward_hopper_convert(const __grid_constant__ TensorMap dq, const Problem<T> p, const Statistics statistics,
                                      const float* sums) {
  const int thread = static_cast<int>(threadIdx.x), blocks = statistics.pitch / kLoopQueries;
  const int of_head = static_cast<int>(blockIdx.x) / blocks, first = static_cast<int>(blockIdx.x) % blocks * kLoopQueries;
  const int head = of_head % p.heads, batch = of_head / p.heads;
  const auto* const from = reinterpret_cast<const Vec<float, 4>*>(sums) + static_cast<std::int64_t>(blockIdx.x) * S::kSums / 16;
  float sum[S::kDim / 2];
#pragma unroll
  for (int i = 0; i < S::kPieces; ++i) {
    const Vec<float, 4> four = ld(from + i * 128 + thread);
#pragma unroll
    for (int e = 0; e < 4; ++e) sum[4 * i + e] = four[e];
  }
  unsigned char* const staging = box_memory<unsigned char>();
  stage_queries<S::kDim, T>(sum, p, statistics, batch, head, first, staging, 0, S::kLoopBox);
  fence_shared_async();
  sync_block();
  if (thread == 0) {
    for (int h = 0; h < S::kHalves; ++h) store_box(dq, staging + h * S::kLoopBox, h * 64, first, head, batch);
    store_commit();
    store_wait<0>();
  }
}

template <int kDim>
std::size_t bytes_with_fused_sums(const attention_backward::Args& a) {
  return bytes_of_statistics(a) + static_cast<std::size_t>(a.q.shape[0] * a.q.shape[2] * pitch_of(a)) * kDim * sizeof(float);
}

template <int kDim, class T>
void run_one_pass(const attention_backward::Args& a, const Launch& l) {
  using S = FusedShape<kDim>;
  const Problem<T> p = problem<T>(a, l);
  const std::int64_t pitch = pitch_of(a), rows = a.q.shape[0] * p.heads, blocks = rows * pitch / kLoopQueries;
  float* const of_l = static_cast<float*>(l.workspace);
  const Statistics statistics{of_l, of_l + rows * pitch, static_cast<int>(pitch)};
  float* const sums = of_l + 2 * rows * pitch;
  run_statistics<kDim>(p, statistics, sums, l);
  // Note: of an empty tensor there is no map, and none of its boxes is copied.
  const bool queries = a.q.size() > 0;
  if (a.k.size() > 0) {
    // Heads whose queries, dO and sums fit the L2 cache, the sums read and written.  Without a mask one head after the other.  Of
    // a group, a block reads one head at a time.
    const bool masked = a.mask != attention_backward::Mask::none;
    const double of_head = 12.0 * p.queries * p.dim;
    const Schedule s =
        schedule(ceil_div(p.keys, kOwn), static_cast<std::int64_t>(p.heads / p.group) * p.batches, masked ? of_head : INFINITY);
    const auto map_of = [&](const float* data) { return queries ? row_map(data, pitch, rows) : TensorMap{}; };
    const std::int64_t of_sums[] = {S::kSumsRow};
    const TensorMap map_of_sums = queries ? tensor_map<float>(sums, {S::kSumsRow, blocks * S::kSumsRows}, of_sums,
                                                              {S::kSumsRow, S::kSumsRows}, Swizzle::none)
                                          : TensorMap{};
    // Timed on an H200: with a mask the wait before g saves 4 to 8 %, without one it costs 1 to 2 %.
    launch(masked ? attention_backward_hopper_fused<S, true, T> : attention_backward_hopper_fused<S, false, T>,
           {.grid = dim3(static_cast<unsigned>(s.tiles) * static_cast<unsigned>(s.heads)),
            .block = dim3(kHopperThreads),
            .shared_bytes = S::kShared},
           l.stream, head_map<T>(queries ? a.q : a.k, kLoopQueries), head_map<T>(queries ? a.d_o : a.k, kLoopQueries),
           head_map<T>(a.k, kOwn), head_map<T>(a.v, kOwn), head_map<T>(a.dk, 64), head_map<T>(a.dv, 64), map_of(statistics.l),
           map_of(statistics.d), map_of_sums, p, statistics, s);
  }
  if (queries)
    launch(attention_backward_hopper_convert<S, T>,
           {.grid = dim3(blocks), .block = dim3(kConvertThreads), .shared_bytes = S::kLoop}, l.stream, head_map<T>(a.dq, 64), p,
           statistics, static_cast<const float*>(sums));
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
