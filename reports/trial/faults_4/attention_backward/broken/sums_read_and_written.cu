// SPDX-License-Identifier: Apache-2.0
// FAULT: splits the queries in blocks of 64, each of which adds its part of dK and dV to sums in the workspace by a load and a
// store, not by atomic additions. Right up to 64 queries. Visible beyond, where blocks run at the same time: one overwrites
// what the other has added. (Where blocks run one after the other only the unordered accesses show.)
// KIND: concurrency
#include "cuda/attention_backward/problem.cuh"

namespace assay::ROOM(attention_backward, sums_read_and_written) {

inline constexpr int kThreads = 32, kChannels = 64;

inline constexpr int kQueries = 64;  // of a block of the second kernel

// D, then the sums of dK and dV.
std::size_t bytes_of_sums(const attention_backward::Args& a) {
  return bytes_of_d(a) + 2 * static_cast<std::size_t>(a.k.size()) * sizeof(float);
}

KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kThreads), tile(Axis::seq_k, kThreads), tile(Axis::head_dim, kChannels)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_of_sums,
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
__global__ void __launch_bounds__(kThreads)
    attention_backward_naive_keys(Problem<T> p, float* sums, int blocks, int channel_blocks, int query_blocks) {
  const int all = static_cast<int>(blockIdx.x) / channel_blocks, kv_heads = p.heads / p.group;
  const int first_query = all % query_blocks * kQueries, block = all / query_blocks;
  const int end = first_query + kQueries < p.queries ? first_query + kQueries : p.queries;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kChannels;
  const int key = block % blocks * kThreads + static_cast<int>(threadIdx.x);
  const int kv = block / blocks % kv_heads, batch = block / blocks / kv_heads;
  if (key >= p.keys) return;
  const T* const k = p.k.row(batch, kv, key);
  const T* const v = p.v.row(batch, kv, key);
  const int channels = p.dim - first < kChannels ? p.dim - first : kChannels;

  float dk[kChannels] = {}, dv[kChannels] = {};
  for (int head = kv * p.group; head < (kv + 1) * p.group; ++head)
    for (int query = p.seen_from(key) > first_query ? p.seen_from(key) : first_query; query < end; ++query) {
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
  const std::int64_t at = ((static_cast<std::int64_t>(batch) * kv_heads + kv) * p.keys + key) * p.dim + first;
  float* const sum_k = sums + at;
  float* const sum_v = sums + static_cast<std::int64_t>(p.batches) * kv_heads * p.keys * p.dim + at;
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    if (c < channels) st(sum_k + c, ld(sum_k + c) + dk[c]), st(sum_v + c, ld(sum_v + c) + dv[c]);
}

__global__ void __launch_bounds__(kThreads) attention_backward_clear(float* sums, std::int64_t size) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < size) st(sums + i, 0.0f);
}

// Stores the sums as dK and dV.
template <class T>
__global__ void __launch_bounds__(kThreads) attention_backward_convert(Problem<T> p, const float* sums, std::int64_t size) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= size) return;
  const int kv_heads = p.heads / p.group, c = static_cast<int>(i % p.dim), key = static_cast<int>(i / p.dim % p.keys);
  const int kv = static_cast<int>(i / p.dim / p.keys % kv_heads), batch = static_cast<int>(i / p.dim / p.keys / kv_heads);
  st(p.dk.row(batch, kv, key) + c, from_float<T>(ld(sums + i) * p.scale));
  st(p.dv.row(batch, kv, key) + c, from_float<T>(ld(sums + size + i)));
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
    const std::int64_t size = a.k.size(), of_queries = ceil_div(p.queries, kQueries);
    if (size == 0) return;
    float* const sums = reinterpret_cast<float*>(static_cast<char*>(l.workspace) + bytes_of_d(a));
    launch(attention_backward_clear, {.grid = dim3(ceil_div(2 * size, kThreads)), .block = dim3(kThreads)}, l.stream, sums,
           2 * size);
    if (of_queries > 0)
      launch(attention_backward_naive_keys<T>,
             {.grid = dim3(key_blocks * channel_blocks * of_queries * (p.heads / p.group) * p.batches), .block = dim3(kThreads)},
             l.stream, p, sums, key_blocks, channel_blocks, of_queries);
    launch(attention_backward_convert<T>, {.grid = dim3(ceil_div(size, kThreads)), .block = dim3(kThreads)}, l.stream, p, sums,
           size);
  });
}

}  // namespace assay::ROOM(attention_backward, sums_read_and_written)
