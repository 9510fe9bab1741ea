// SPDX-License-Identifier: Apache-2.0
// FAULT: tiles of keys come by cp.async, one ahead; of several tiles the wait is always for all groups but the newest, though at
// the last tile there is no newer one: it is read while it is still on its way. Right with one tile.
// Caught by: T4, a read of bytes that a copy is still writing, as a finding on simt; T1 elsewhere. More than 32 keys.
#include "cuda/attention_scores/problem.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ROOM(attention_scores, missing_async_wait) {

inline constexpr int kQueries = 4, kKeys = kWarp, kAccess = 16, kMostDim = 256;

Legality supports(const attention_scores::Args& a) {
  if (a.q.shape[3] > kMostDim) return Legality::no("head_dim exceeds 256");
  if (a.q.shape[3] % 8 || !a.k.rows_aligned(kAccess)) return Legality::no("keys must start and end at multiples of 16 bytes");
  return Legality::yes();
}

KERNEL(attention_scores){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::seq_q, kQueries), tile(Axis::seq_k, kKeys)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = kWarp, .extra = 1}},
    .supports = supports,
};

template <class T>
__global__ void missing_async_wait(Problem<T> m) {
  const int per_block = kQueries * kWarp, chunks = m.dim / 8;
  const std::int64_t blocks = ceil_div(m.seq_q, kQueries), pair = blockIdx.x / blocks;
  const std::int64_t batch = pair / m.heads, query = blockIdx.x % blocks * kQueries + warp_id();
  const int head = static_cast<int>(pair % m.heads);
  const bool mine = query < m.seq_q;
  const std::int64_t seen = mine ? m.visible(query) : 0, tiles = ceil_div(m.seq_k, kKeys);
  T* const stages = shared_memory<T>();  // [2, kKeys, dim]

  const auto load = [&](std::int64_t tile) {
    for (int i = static_cast<int>(threadIdx.x); i < kKeys * chunks; i += per_block) {
      const std::int64_t key = tile * kKeys + i / chunks;
      cp_async<kAccess>(stages + tile % 2 * kKeys * m.dim + i * 8,
                        m.k.at(batch, key < m.seq_k ? key : 0, head / m.group) + i % chunks * 8, key < m.seq_k ? kAccess : 0);
    }
    cp_async_commit();
  };
  // Calls f(key, score) for this lane's keys.
  const auto each_score = [&](auto f) {
    const T* const q = mine ? m.q.at(batch, query, head) : nullptr;
    load(0);
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      if (tile + 1 < tiles) load(tile + 1);
      if (tiles == 1) cp_async_wait<0>();
      else cp_async_wait<1>();
      sync_block();
      const T* const k = stages + (tile % 2 * kKeys + lane_id()) * m.dim;
      const std::int64_t key = tile * kKeys + lane_id();
      float s = 0;
      if (key < seen) {
        for (int c = 0; c < m.dim; ++c) s = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), s);
        f(key, s * m.scale);
      }
      sync_block();
    }
    cp_async_wait<0>();
    sync_block();
  };

  float max = -INFINITY, sum = 0;
  each_score([&](std::int64_t, float s) {
    const float larger = fmaxf(max, s);
    if (s == -INFINITY) return;
    sum = fmaf(sum, expf(max - larger), expf(s - larger));
    max = larger;
  });
  const float all = warp_max(max);
  sum = warp_sum(max == -INFINITY ? sum : sum * expf(max - all));
  T* const p = mine ? m.p.at(batch, head, query) : nullptr;
  each_score(
      [&](std::int64_t key, float s) { st(p + key, from_float<T>(s != -INFINITY || sum != 0 ? expf(s - all) / sum : 0.0f)); });
  if (mine)
    for (std::int64_t key = seen + lane_id(); key < m.seq_k; key += kWarp) st(p + key, from_float<T>(0));
}

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_half_type(a.q.dtype, [&]<class T>(Type<T>) {
    const std::int64_t blocks = ceil_div(a.q.shape[1], kQueries) * a.q.shape[0] * a.q.shape[2];
    launch(missing_async_wait<T>,
           {.grid = dim3(blocks),
            .block = dim3(kQueries * kWarp),
            .shared_bytes = static_cast<std::size_t>(2 * kKeys * a.q.shape[3] * 2)},
           l.stream, problem<T>(a));
  });
}

}  // namespace assay::ROOM(attention_scores, missing_async_wait)
