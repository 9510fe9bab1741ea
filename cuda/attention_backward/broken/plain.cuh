// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): one thread for each query and 64 channels of its dQ, then one for each
// key and 64 channels of its dK and dV.
#pragma once

#include "cuda/attention_backward/problem.cuh"
#include "cuda/core/kernel_family.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

inline constexpr int kPlainRows = 32, kPlainChannels = 64;

template <template <class> class>
constexpr KernelTraits<attention_backward> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::seq_q, kPlainRows), tile(Axis::seq_k, kPlainRows), tile(Axis::head_dim, kPlainChannels)},
          .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
          .supports = extents_fit,
          .workspace_bytes = bytes_of_d};
}

// Every step as it should be.
template <class T>
struct Plain {
  // Keys that a query goes through, and what a pair weighs in dQ and dK: the weight, dO V^T, and D of the query.
  static __device__ int keys(const Problem<T>& p, int query) { return p.visible(query); }
  static __device__ float d_score(const Problem<T>&, int /*query*/, int /*key*/, float weight, float g, float d) {
    return weight * (g - d);
  }
  static __device__ float d_query(float sum, float scale) { return sum * scale; }

  // Queries and heads that a key goes through, and what a pair weighs in dV.
  static __device__ int first_query(const Problem<T>& p, int key) { return p.seen_from(key); }
  static __device__ int end_head(const Problem<T>& p, int kv) { return (kv + 1) * p.group; }
  static __device__ float weight_of_d_o(float weight) { return weight; }
};

template <class T, class S>
__global__ void __launch_bounds__(kPlainRows) attention_backward_plain_queries(Problem<T> p, int blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kPlainChannels;
  const int query = block % blocks * kPlainRows + static_cast<int>(threadIdx.x);
  const int head = block / blocks % p.heads, batch = block / blocks / p.heads;
  if (query >= p.queries) return;
  const T* const q = p.q.row(batch, head, query);
  const T* const d_o = p.d_o.row(batch, head, query);
  const T* k = p.k.of(batch, head / p.group);
  const T* v = p.v.of(batch, head / p.group);
  const int channels = p.dim - first < kPlainChannels ? p.dim - first : kPlainChannels;
  const float lse = ld(p.lse.row(batch, head, query)), d = ld(p.d_of(batch, head) + query);

  float dq[kPlainChannels] = {};
  const int keys = lse == -INFINITY ? 0 : S::keys(p, query);
  for (int key = 0; key < keys; ++key, k += p.k.seq, v += p.v.seq) {
    const float weight = expf(row_dot(q, k, p.dim) * p.scale - lse);
    const float ds = S::d_score(p, query, key, weight, row_dot(d_o, v, p.dim), d);
#pragma unroll
    for (int c = 0; c < kPlainChannels; ++c)
      if (c < channels) dq[c] = fmaf(ds, to_float(ld(k + first + c)), dq[c]);
  }
  T* const out = p.dq.row(batch, head, query) + first;
#pragma unroll
  for (int c = 0; c < kPlainChannels; ++c)
    if (c < channels) st(out + c, from_float<T>(S::d_query(dq[c], p.scale)));
}

template <class T, class S>
__global__ void __launch_bounds__(kPlainRows) attention_backward_plain_keys(Problem<T> p, int blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks, kv_heads = p.heads / p.group;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kPlainChannels;
  const int key = block % blocks * kPlainRows + static_cast<int>(threadIdx.x);
  const int kv = block / blocks % kv_heads, batch = block / blocks / kv_heads;
  if (key >= p.keys) return;
  const T* const k = p.k.row(batch, kv, key);
  const T* const v = p.v.row(batch, kv, key);
  const int channels = p.dim - first < kPlainChannels ? p.dim - first : kPlainChannels;

  float dk[kPlainChannels] = {}, dv[kPlainChannels] = {};
  for (int head = kv * p.group; head < S::end_head(p, kv); ++head)
    for (int query = S::first_query(p, key); query < p.queries; ++query) {
      const float lse = ld(p.lse.row(batch, head, query)), d = ld(p.d_of(batch, head) + query);
      if (lse == -INFINITY) continue;
      const T* const q = p.q.row(batch, head, query);
      const T* const d_o = p.d_o.row(batch, head, query);
      const float weight = expf(row_dot(q, k, p.dim) * p.scale - lse);
      const float ds = S::d_score(p, query, key, weight, row_dot(d_o, v, p.dim), d);
#pragma unroll
      for (int c = 0; c < kPlainChannels; ++c)
        if (c < channels) {
          dk[c] = fmaf(ds, to_float(ld(q + first + c)), dk[c]);
          dv[c] = fmaf(S::weight_of_d_o(weight), to_float(ld(d_o + first + c)), dv[c]);
        }
    }
  T* const out_k = p.dk.row(batch, kv, key) + first;
  T* const out_v = p.dv.row(batch, kv, key) + first;
#pragma unroll
  for (int c = 0; c < kPlainChannels; ++c)
    if (c < channels) {
      st(out_k + c, from_float<T>(dk[c] * p.scale));
      st(out_v + c, from_float<T>(dv[c]));
    }
}

template <template <class> class S>
void run_plain(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    const std::int64_t query_blocks = ceil_div(p.queries, kPlainRows), key_blocks = ceil_div(p.keys, kPlainRows);
    const std::int64_t channel_blocks = ceil_div(p.dim, kPlainChannels);
    if (p.batches > 0 && p.queries > 0)
      launch(attention_backward_plain_queries<T, S<T>>,
             {.grid = dim3(query_blocks * channel_blocks * p.heads * p.batches), .block = dim3(kPlainRows)}, l.stream, p,
             query_blocks, channel_blocks);
    if (p.batches > 0 && p.keys > 0)
      launch(attention_backward_plain_keys<T, S<T>>,
             {.grid = dim3(key_blocks * channel_blocks * (p.heads / p.group) * p.batches), .block = dim3(kPlainRows)}, l.stream,
             p, key_blocks, channel_blocks);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
