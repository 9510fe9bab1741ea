// SPDX-License-Identifier: Apache-2.0
// FAULT: the blocks of the query heads that share a key head add their parts of dK and dV to f32 in workspace by a load and a
// store, not by atomics.
// Kind: concurrency
// Shows: fewer kv_heads than heads: blocks that run at the same time lose each other's parts.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, heads_of_group_add_plainly) {

// dK and dV in f32, [batch, seq_k, kv_heads, head_dim] each, behind D.
std::size_t bytes_of_sums(const attention_backward::Args& a) {
  return bytes_of_d(a) + static_cast<std::size_t>(2 * a.k.size()) * sizeof(float);
}

__global__ void clear(float* sums, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kRowThreads + threadIdx.x;
  if (i < count) st(sums + i, 0.0f);
}

// A block a key of a query head, a thread a channel.
template <class T>
__global__ void add_head(Problem<T> p, float* dk, float* dv) {
  const int key = static_cast<int>(blockIdx.x) % p.keys, head = static_cast<int>(blockIdx.x) / p.keys % p.heads;
  const int batch = static_cast<int>(blockIdx.x) / p.keys / p.heads, kv = head / p.group;
  const T* const k = p.k.row(batch, kv, key);
  const T* const v = p.v.row(batch, kv, key);
  const std::int64_t at = ((static_cast<std::int64_t>(batch) * p.keys + key) * (p.heads / p.group) + kv) * p.dim;
  for (int c = static_cast<int>(threadIdx.x); c < p.dim; c += kWarp) {
    float of_k = 0, of_v = 0;
    for (int query = p.seen_from(key); query < p.queries; ++query) {
      const float lse = ld(p.lse.row(batch, head, query)), d = ld(p.d_of(batch, head) + query);
      if (lse == -INFINITY) continue;
      const T* const q = p.q.row(batch, head, query);
      const T* const d_o = p.d_o.row(batch, head, query);
      const float weight = expf(row_dot(q, k, p.dim) * p.scale - lse);
      of_k = fmaf(weight * (row_dot(d_o, v, p.dim) - d), to_float(ld(q + c)), of_k);
      of_v = fmaf(weight, to_float(ld(d_o + c)), of_v);
    }
    st(dk + at + c, ld(dk + at + c) + of_k);
    st(dv + at + c, ld(dv + at + c) + of_v);
  }
}

template <class T>
__global__ void convert(Problem<T> p, const float* dk, const float* dv) {
  const int kv_heads = p.heads / p.group, kv = static_cast<int>(blockIdx.x) % kv_heads;
  const int key = static_cast<int>(blockIdx.x) / kv_heads % p.keys, batch = static_cast<int>(blockIdx.x) / kv_heads / p.keys;
  for (int c = static_cast<int>(threadIdx.x); c < p.dim; c += kWarp) {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * p.dim + c;
    st(p.dk.row(batch, kv, key) + c, from_float<T>(ld(dk + at) * p.scale));
    st(p.dv.row(batch, kv, key) + c, from_float<T>(ld(dv + at)));
  }
}

KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainRows), tile(Axis::seq_k, 1), tile(Axis::head_dim, kPlainChannels)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_of_sums,
};

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    const std::int64_t blocks = ceil_div(p.queries, kPlainRows), channels = ceil_div(p.dim, kPlainChannels), all = a.k.size();
    if (p.batches > 0 && p.queries > 0)
      launch(attention_backward_plain_queries<T, Plain<T>>,
             {.grid = dim3(blocks * channels * p.heads * p.batches), .block = dim3(kPlainRows)}, l.stream, p, blocks, channels);
    if (all == 0) return;
    float* const dk = reinterpret_cast<float*>(static_cast<char*>(l.workspace) + bytes_of_d(a));
    float* const dv = dk + all;
    launch(clear, {.grid = dim3(ceil_div(2 * all, kRowThreads)), .block = dim3(kRowThreads)}, l.stream, dk, 2 * all);
    launch(add_head<T>, {.grid = dim3(std::int64_t{p.batches} * p.heads * p.keys), .block = dim3(kWarp)}, l.stream, p, dk, dv);
    launch(convert<T>, {.grid = dim3(all / p.dim), .block = dim3(kWarp)}, l.stream, p, dk, dv);
  });
}

}  // namespace assay::ROOM(attention_backward, heads_of_group_add_plainly)
