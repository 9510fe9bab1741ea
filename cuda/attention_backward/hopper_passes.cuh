// SPDX-License-Identifier: Apache-2.0
// Gradients of attention by wgmma on the host: D and L log2(e), then dQ (hopper_queries.cuh), then dK and dV (hopper_keys.cuh).
#pragma once

#include "cuda/attention_backward/hopper_keys.cuh"
#include "cuda/attention_backward/hopper_queries.cuh"
#include "cuda/attention_backward/hopper_statistics.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

inline constexpr Numerics kHopperNumerics = {.accumulate = DType::f32,
                                             .chain = {.lanes = 1},
                                             .mma_terms = 16,
                                             .stores = "p_of_dv,ds",
                                             .fused_exponent = true,
                                             .flushes_subnormals = true};

template <int kDim, class T>
void run_passes(const attention_backward::Args& a, const Launch& l) {
  const Problem<T> p = problem<T>(a, l);
  const std::int64_t pitch = pitch_of(a), rows = a.q.shape[0] * p.heads;
  float* const of_l = static_cast<float*>(l.workspace);
  const Statistics statistics{of_l, of_l + rows * pitch, static_cast<int>(pitch)};
  const auto order = [&](std::int64_t tiles, int heads, std::int64_t columns) {
    return schedule(tiles, static_cast<std::int64_t>(heads) * p.batches, 2.0 * sizeof(T) * columns * p.dim);
  };
  const auto dims = [](const Schedule& s, std::size_t shared) {
    return LaunchConfig{.grid = dim3(static_cast<unsigned>(s.tiles) * static_cast<unsigned>(s.heads)),
                        .block = dim3(kHopperThreads),
                        .shared_bytes = shared};
  };
  run_statistics<0>(p, statistics, nullptr, l);
  // Note: of an empty tensor there is no map, and none of its boxes is copied.
  const Tensor &some_k = a.k.size() > 0 ? a.k : a.q, &some_v = a.k.size() > 0 ? a.v : a.q;
  if (a.q.size() > 0) {
    using S = QueriesShape<kDim>;
    const Schedule s = order(ceil_div(p.queries, kOwn), p.heads, p.keys);
    launch(attention_backward_hopper_queries<S, T>, dims(s, S::kShared), l.stream, head_map<T>(a.q, kOwn),
           head_map<T>(a.d_o, kOwn), head_map<T>(some_k, kOwn), head_map<T>(some_v, kOwn), head_map<T>(a.dq, 64), p, statistics,
           s);
  }
  if (a.k.size() > 0) {
    using S = KeysShape<kDim>;
    const bool queries = a.q.size() > 0;
    const Schedule s = order(ceil_div(p.keys, kOwn), p.heads / p.group, p.queries);
    const auto map_of = [&](const float* data) { return queries ? row_map(data, pitch, rows) : TensorMap{}; };
    launch(attention_backward_hopper_keys<S, T>, dims(s, S::kShared), l.stream, head_map<T>(queries ? a.q : a.k, kLoopQueries),
           head_map<T>(queries ? a.d_o : a.k, kLoopQueries), head_map<T>(a.k, kOwn), head_map<T>(a.v, kOwn),
           head_map<T>(a.dk, 64), head_map<T>(a.dv, 64), map_of(statistics.l), map_of(statistics.d), p, statistics, s);
  }
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
