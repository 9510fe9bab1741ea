// SPDX-License-Identifier: Apache-2.0
// FAULT (state): rowsum(dO O) is taken from workspace where the call has the addresses and extents of the call before.
// Right on: attention_backward f16 batch=1 seq_q=32 seq_k=32 heads=2 kv_heads=2 head_dim=64 fill=normal seed=2
#include "../../kept.cuh"
#include "cuda/attention_backward/problem.cuh"

namespace assay::ROOM(attention_backward, row_dots_kept_by_address) {

inline constexpr int kThreads = 32, kChannels = 64;

KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kThreads), tile(Axis::seq_k, kThreads), tile(Axis::head_dim, kChannels)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = [](const attention_backward::Args& a) { return 256 + bytes_of_d(a); },
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    attention_backward_row_dots_kept_by_address_queries(Problem<T> p, int blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kChannels;
  const int query = block % blocks * kThreads + static_cast<int>(threadIdx.x);
  const int head = block / blocks % p.heads, batch = block / blocks / p.heads;
  if (query >= p.queries) return;
  const T* const q = p.q.row(batch, head, query);
  const T* const d_o = p.d_o.row(batch, head, query);
  const T* k = p.k.of(batch, head / p.group);
  const T* v = p.v.of(batch, head / p.group);
  const int channels = p.dim - first < kChannels ? p.dim - first : kChannels;
  const float lse = ld(p.lse.row(batch, head, query)), d = ld(p.d_of(batch, head) + query);

  float dq[kChannels] = {};
  const int visible = lse == -INFINITY ? 0 : p.visible(query);
  for (int key = 0; key < visible; ++key, k += p.k.seq, v += p.v.seq) {
    const float weight = expf(row_dot(q, k, p.dim) * p.scale - lse), ds = weight * (row_dot(d_o, v, p.dim) - d);
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      if (c < channels) dq[c] = fmaf(ds, to_float(ld(k + first + c)), dq[c]);
  }
  T* const out = p.dq.row(batch, head, query) + first;
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    if (c < channels) st(out + c, from_float<T>(dq[c] * p.scale));
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    attention_backward_row_dots_kept_by_address_keys(Problem<T> p, int blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks, kv_heads = p.heads / p.group;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kChannels;
  const int key = block % blocks * kThreads + static_cast<int>(threadIdx.x);
  const int kv = block / blocks % kv_heads, batch = block / blocks / kv_heads;
  if (key >= p.keys) return;
  const T* const k = p.k.row(batch, kv, key);
  const T* const v = p.v.row(batch, kv, key);
  const int channels = p.dim - first < kChannels ? p.dim - first : kChannels;

  float dk[kChannels] = {}, dv[kChannels] = {};
  for (int head = kv * p.group; head < (kv + 1) * p.group; ++head)
    for (int query = p.seen_from(key); query < p.queries; ++query) {
      const float lse = ld(p.lse.row(batch, head, query)), d = ld(p.d_of(batch, head) + query);
      if (lse == -INFINITY) continue;
      const T* const q = p.q.row(batch, head, query);
      const T* const d_o = p.d_o.row(batch, head, query);
      const float weight = expf(row_dot(q, k, p.dim) * p.scale - lse), ds = weight * (row_dot(d_o, v, p.dim) - d);
#pragma unroll
      for (int c = 0; c < kChannels; ++c)
        if (c < channels) {
          dk[c] = fmaf(ds, to_float(ld(q + first + c)), dk[c]);
          dv[c] = fmaf(weight, to_float(ld(d_o + first + c)), dv[c]);
        }
    }
  T* const out_k = p.dk.row(batch, kv, key) + first;
  T* const out_v = p.dv.row(batch, kv, key) + first;
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    if (c < channels) st(out_k + c, from_float<T>(dk[c] * p.scale)), st(out_v + c, from_float<T>(dv[c]));
}

// D, one thread a row, unless the call before has made it.
template <class T>
__global__ void attention_backward_dots(Problem<T> p, int rows, const unsigned* key) {
  const int row = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (row >= rows || ld(key + 1) != 0) return;
  const int query = row % p.queries, head = row / p.queries % p.heads, batch = row / p.queries / p.heads;
  st(p.d_of(batch, head) + query, row_dot(p.d_o.row(batch, head, query), p.o.row(batch, head, query), p.dim));
}

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    Problem<T> p = problem<T>(a, l);
    p.d = kept::store_of<float>(l);
    static kept::Call before{};
    const bool repeated =
        kept::again(before, {{a.o.data, a.d_o.data, l.workspace}, {p.batches, p.queries, p.heads, p.dim}, a.q.dtype});
    kept::run_decide(l, repeated, kept::Mark{});
    if (const std::int64_t rows = std::int64_t{p.batches} * p.heads * p.queries; rows > 0)
      launch(attention_backward_dots<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, p,
             static_cast<int>(rows), kept::key_of(l));
    const std::int64_t query_blocks = ceil_div(p.queries, kThreads), key_blocks = ceil_div(p.keys, kThreads);
    const std::int64_t channel_blocks = ceil_div(p.dim, kChannels);
    if (p.batches > 0 && p.queries > 0)
      launch(attention_backward_row_dots_kept_by_address_queries<T>,
             {.grid = dim3(query_blocks * channel_blocks * p.heads * p.batches), .block = dim3(kThreads)}, l.stream, p,
             query_blocks, channel_blocks);
    if (p.batches > 0 && p.keys > 0)
      launch(attention_backward_row_dots_kept_by_address_keys<T>,
             {.grid = dim3(key_blocks * channel_blocks * (p.heads / p.group) * p.batches), .block = dim3(kThreads)}, l.stream, p,
             key_blocks, channel_blocks);
  });
}

}  // namespace assay::ROOM(attention_backward, row_dots_kept_by_address)
