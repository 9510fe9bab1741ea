// SPDX-License-Identifier: Apache-2.0
// D first.  Then one thread per query and 64 channels computes dQ over its keys; one thread per key and 64 channels computes dK
// and dV over the queries of all heads that share the key.  Every thread recomputes its scores.  Any head_dim, any layout.
#include "cuda/attention_backward/problem.cuh"

namespace assay::ROOM(attention_backward, naive) {

inline constexpr int kThreads = 32, kChannels = 64;

KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kThreads), tile(Axis::seq_k, kThreads), tile(Axis::head_dim, kChannels)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_of_d,
};

template <class T>
__global__ void __launch_bounds__(kThreads) attention_backward_naive_queries(Problem<T> p, int blocks, int channel_blocks) {
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
__global__ void __launch_bounds__(kThreads) attention_backward_naive_keys(Problem<T> p, int blocks, int channel_blocks) {
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
    if (c < channels) {
      st(out_k + c, from_float<T>(dk[c] * p.scale));
      st(out_v + c, from_float<T>(dv[c]));
    }
}

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    const std::int64_t query_blocks = ceil_div(p.queries, kThreads), key_blocks = ceil_div(p.keys, kThreads);
    const std::int64_t channel_blocks = ceil_div(p.dim, kChannels);
    if (p.batches > 0 && p.queries > 0)
      launch(attention_backward_naive_queries<T>,
             {.grid = dim3(query_blocks * channel_blocks * p.heads * p.batches), .block = dim3(kThreads)}, l.stream, p,
             query_blocks, channel_blocks);
    if (p.batches > 0 && p.keys > 0)
      launch(attention_backward_naive_keys<T>,
             {.grid = dim3(key_blocks * channel_blocks * (p.heads / p.group) * p.batches), .block = dim3(kThreads)}, l.stream, p,
             key_blocks, channel_blocks);
  });
}

}  // namespace assay::ROOM(attention_backward, naive)
