// SPDX-License-Identifier: Apache-2.0
// FAULT: a key that no query sees is left before its zero gradients are written.
// Kind: algorithm
// Shows: mask=causal_top_left with seq_k > seq_q, where the keys from seq_q on are seen by none.
#include "cuda/attention_backward/broken/plain.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ROOM(attention_backward, unseen_keys_not_written) {

inline constexpr int kKeys = 4, kParts = 4;  // warps a block, channels a lane

// A warp has a key: dK and dV of its channels.
template <class T>
__global__ void keys_by_warps(Problem<T> p, std::int64_t rows, int channel_blocks) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) / channel_blocks * kKeys + warp_id();
  const int first = static_cast<int>(blockIdx.x % channel_blocks) * kParts * kWarp, lane = lane_id();
  if (at >= rows) return;
  const int kv_heads = p.heads / p.group, key = static_cast<int>(at % p.keys);
  const int kv = static_cast<int>(at / p.keys % kv_heads), batch = static_cast<int>(at / p.keys / kv_heads);
  if (p.seen_from(key) >= p.queries) return;
  const T* const k = p.k.row(batch, kv, key);
  const T* const v = p.v.row(batch, kv, key);
  float dk[kParts] = {}, dv[kParts] = {};
  for (int head = kv * p.group; head < (kv + 1) * p.group; ++head) {
    for (int query = p.seen_from(key); query < p.queries; ++query) {
      const float lse = ld(p.lse.row(batch, head, query)), d = ld(p.d_of(batch, head) + query);
      if (lse == -INFINITY) continue;
      const T* const q = p.q.row(batch, head, query);
      const T* const d_o = p.d_o.row(batch, head, query);
      float s = 0, g = 0;
      for (int c = lane; c < p.dim; c += kWarp) {
        s = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), s);
        g = fmaf(to_float(ld(d_o + c)), to_float(ld(v + c)), g);
      }
      const float weight = expf(warp_sum(s) * p.scale - lse), ds = weight * (warp_sum(g) - d);
#pragma unroll
      for (int i = 0; i < kParts; ++i)
        if (const int c = first + i * kWarp + lane; c < p.dim) {
          dk[i] = fmaf(ds, to_float(ld(q + c)), dk[i]);
          dv[i] = fmaf(weight, to_float(ld(d_o + c)), dv[i]);
        }
    }
  }
  T* const out_k = p.dk.row(batch, kv, key);
  T* const out_v = p.dv.row(batch, kv, key);
#pragma unroll
  for (int i = 0; i < kParts; ++i)
    if (const int c = first + i * kWarp + lane; c < p.dim) {
      st(out_k + c, from_float<T>(dk[i] * p.scale));
      st(out_v + c, from_float<T>(dv[i]));
    }
}

KERNEL(attention_backward) = plain_traits<Plain>();

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    const std::int64_t query_blocks = ceil_div(p.queries, kPlainRows), channel_blocks = ceil_div(p.dim, kPlainChannels);
    if (p.batches > 0 && p.queries > 0)
      launch(attention_backward_plain_queries<T, Plain<T>>,
             {.grid = dim3(query_blocks * channel_blocks * p.heads * p.batches), .block = dim3(kPlainRows)}, l.stream, p,
             query_blocks, channel_blocks);
    const std::int64_t rows = std::int64_t{p.batches} * (p.heads / p.group) * p.keys, across = ceil_div(p.dim, kParts * kWarp);
    if (rows > 0)
      launch(keys_by_warps<T>, {.grid = dim3(ceil_div(rows, kKeys) * across), .block = dim3(kKeys * kWarp)}, l.stream, p, rows,
             static_cast<int>(across));
  });
}

}  // namespace assay::ROOM(attention_backward, unseen_keys_not_written)
